"""What both kinds of recordings share: events, states, and prefix numbers for vLLM's hashes."""

from dataclasses import dataclass
from typing import Any

from sim.events import EventKind
from sim.frame import Frame

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where the simulator and the recording part."""

    step: int
    field: str
    ours: Any
    theirs: Any

    def __str__(self) -> str:
        return f"step {self.step}, {self.field}: ours {self.ours!r}, theirs {self.theirs!r}"


class Hashes:
    """Prefix id <-> vLLM's hash, one to one over a whole recording."""

    def __init__(self) -> None:
        self._ours: dict[int, str] = {}
        self._theirs: dict[str, int] = {}

    def same(self, prefix_id: int, block_hash: str) -> bool:
        """Do the two name one prefix, here as everywhere before?"""
        ours = self._ours.setdefault(prefix_id, block_hash)
        theirs = self._theirs.setdefault(block_hash, prefix_id)
        return ours == block_hash and theirs == prefix_id

    def of(self, prefix_id: int) -> str:
        """vLLM's hash of a prefix that was cached before."""
        return self._ours[prefix_id]


def first_difference(step: int, ours: Json, theirs: Json) -> Difference | None:
    """The first field of ours that the recording has otherwise."""
    for field, value in ours.items():
        if value != theirs.get(field):
            return Difference(step, field, value, theirs.get(field))
    return None


def pool_state(frame: Frame, hashes: Hashes) -> Json:
    """The pool's part of a recorded state."""
    free = frame.free_queue.tolist()
    holders: dict[int, list[int]] = {}
    hashed = [b for b, prefix_id in enumerate(frame.prefix_id) if prefix_id >= 0]
    for block_id in sorted(hashed, key=lambda b: int(frame.cached_order[b])):
        holders.setdefault(int(frame.prefix_id[block_id]), []).append(block_id)
    return {
        "free": free,
        "nfree": len(free),
        "usage": frame.usage,
        "ref": frame.ref_cnt.tolist(),
        "hashed": hashed,
        "dup": {hashes.of(p): blocks for p, blocks in holders.items() if len(blocks) > 1},
    }


def request_state(status: str, computed: int, total: int, preemptions: int, table: Any) -> Json:
    """A request's part of a recorded state, without vLLM's own `ncb`."""
    return {"st": status, "nc": computed, "nt": total, "np": preemptions, "bt": list(table)}


def without_ncb(state: Json) -> Json:
    """A recorded state's requests, likewise."""
    return {i: {k: v for k, v in r.items() if k != "ncb"} for i, r in state["reqs"].items()}


class EventComparison:
    """Recorded events against log rows, in order.

    A recorded `alloc` that succeeded has no row of its own: it follows from TAKE, ADMIT and
    SCHEDULE, and is compared apart.
    """

    def __init__(self, ids: list[str], block_size: int, hashes: Hashes) -> None:
        self._ids = ids
        self._block_size = block_size
        self._hashes = hashes
        self._prefix_of: dict[int, int] = {}

    def row(self, kind: int, request: int, a: int, b: int, payload: list[int]) -> list[Any]:
        """The recorded events that a row stands for; those of hashes still with prefix ids."""
        name = self._ids[request] if request >= 0 else None
        if kind == EventKind.LOOKUP:
            return [["lookup", name, a, b, payload]]
        if kind == EventKind.TOUCH:
            return [["touch", payload]]
        if kind == EventKind.TAKE:
            return [*self._evicted(payload), ["take", payload]]
        if kind == EventKind.EVICT:
            return self._evicted(payload)
        if kind == EventKind.CACHE:
            return self._cached(name, a, payload[:b], payload[b:])
        if kind == EventKind.ALLOC_FAILED:
            return [["failed", name, a]]
        if kind == EventKind.RELEASE:
            return [["release", a, b, payload]]
        if kind == EventKind.PREEMPT:
            return [["preempt", name]]
        if kind == EventKind.RESET and a:
            self._prefix_of.clear()
        return []

    def _evicted(self, blocks: list[int]) -> list[Any]:
        hashed = [block for block in blocks if block in self._prefix_of]
        return [["evict", block, self._prefix_of.pop(block)] for block in hashed]

    def _cached(self, name: str | None, first: int, blocks: list[int], ids: list[int]) -> list[Any]:
        self._prefix_of.update(zip(blocks, ids, strict=True))
        size = self._block_size
        return [
            ["cache", name, block, prefix_id, (first + i + 1) * size]
            for i, (block, prefix_id) in enumerate(zip(blocks, ids, strict=True))
        ]

    def difference(
        self, step: int, field: str, ours: list[Any], theirs: list[Any]
    ) -> Difference | None:
        """The first event that differs."""
        others = [e for e in theirs if e[0] != "alloc" or e[4] is None]
        for mine, other in zip(ours, others, strict=False):
            if not self._same(mine, other):
                return Difference(step, field, mine, other)
        if len(ours) != len(others):
            return Difference(step, f"number of {field}", len(ours), len(others))
        return None

    def _same(self, ours: list[Any], theirs: list[Any]) -> bool:
        if ours[0] == "failed":
            return theirs[0] == "alloc" and theirs[1:3] == ours[1:]
        if ours[0] != theirs[0]:
            return False
        if ours[0] == "cache":
            others = [*theirs[:3], *theirs[4:]]
            return self._hashes.same(ours[3], theirs[3]) and [*ours[:3], ours[4]] == others
        if ours[0] == "evict":
            return bool(ours[1] == theirs[1]) and self._hashes.same(ours[2], theirs[2])
        if ours[0] == "release":
            return _regrouped(theirs[1], *ours[1:])
        return ours == theirs


def _regrouped(given: list[int], to_head: int, to_tail: int, ours: list[int]) -> bool:
    """Are our three groups the blocks as given, each in the order given?"""
    cuts = (ours[:to_head], ours[to_head : to_head + to_tail], ours[to_head + to_tail :])
    return sorted(given) == sorted(ours) and all(
        group == [block for block in given if block in group] for group in cuts
    )
