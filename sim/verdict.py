"""Why each block of a prompt hit or missed, found in the log.

The prefix cache is replayed row by row with the real block hashes; at the lookup that lets a
request in, each of its blocks is held against what is cached, what was, and what others asked for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sim.event_log import EventLog
from sim.events import EventKind
from sim.hash_chain import hash_chain
from sim.prompt import TokenPrompt
from sim.scenario import RequestSpec


class Reason(StrEnum):
    """What decided about a block."""

    HIT = "hit"
    FIRST = "first"  # nothing was ever cached before
    TOKEN = "token"  # a token differs from the closest other prompt's
    ENDS = "ends"  # the closest other prompt ended before a token could differ
    SALT = "salt"  # another request has the same tokens under another salt
    PARENT = "parent"  # the block before it missed
    EVICTED = "evicted"  # it was cached, and its block was taken since
    UNCACHED = "uncached"  # these tokens, though known, were never cached
    HELD_BACK = "held back"  # cached, but one token must be computed to get logits
    NOT_FULL = "not full"  # only full blocks have a hash


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one lookup found for one logical block of `request` (an index in the scenario).

    `block` is the physical block that was hit, that was held back, or that held the prefix until it
    was evicted. `other` is the request that computed it, that took it, or whose prompt is
    the closest. `token` is the position of the first token that differs, or that a block still
    lacks; `since` the step in which the block got its hash, or lost it.
    """

    step: int
    request: int
    logical: int
    reason: Reason
    block: int | None = None
    other: int | None = None
    token: int | None = None
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """The verdicts on all blocks of the `num_tokens` tokens that a request had when it was let in.

    A request that was preempted comes again, `resumed`, and asks for its answer so far too.
    """

    step: int
    request: int
    num_tokens: int
    resumed: bool
    verdicts: tuple[Verdict, ...]

    @property
    def num_hits(self) -> int:
        """Blocks that hit."""
        return sum(verdict.reason is Reason.HIT for verdict in self.verdicts)


def lookups(log: EventLog) -> list[Lookup]:
    """The lookup of each admission, in order; none for a request that does not read the cache.

    Raises TypeError when a prompt or an output has no token ids.
    """
    cache = _Cache(log.scenario.requests, log.scenario.block_size)
    told: list[Lookup] = []
    for step, kind, request, a, b, payload in _rows(log):
        if kind == EventKind.LOOKUP:
            num_tokens, verdicts = a, tuple(cache.look_up(step, request, a, payload))
        elif (
            kind == EventKind.ADMIT and not log.scenario.requests[request].skip_reading_prefix_cache
        ):
            told.append(Lookup(step, request, num_tokens, bool(b), verdicts))
        elif kind == EventKind.EVICT:
            cache.evict(step, request, payload)
        elif kind == EventKind.CACHE:
            cache.add(step, request, a, payload[:b])
        elif kind == EventKind.RESET and a:
            cache.forget()
    return told


def _rows(log: EventLog) -> Iterator[tuple[int, int, int, int, int, list[int]]]:
    """(step, kind, request, a, b, payload) of each row."""
    columns = log.columns
    names = ("kind", "request", "a", "b")
    rows = zip(*(columns[name].tolist() for name in names), strict=True)
    step, ends = 0, columns["update_end"].tolist()
    for index, (kind, request, a, b) in enumerate(rows):
        while index >= ends[step]:
            step += 1
        yield step, kind, request, a, b, log.payload(index).tolist()


class _Cache:
    """Which hashes are cached where, which were, and whose prompts have been seen."""

    def __init__(self, requests: Sequence[RequestSpec], block_size: int) -> None:
        self.requests = requests
        self.block_size = block_size
        self.tokens = [token_ids(spec) for spec in requests]
        self.chains = [
            hash_chain(tokens, block_size, spec.cache_salt, spec.lora_name)
            for spec, tokens in zip(requests, self.tokens, strict=True)
        ]
        self.holders: dict[bytes, dict[int, tuple[int, int]]] = {}  # hash -> block -> step, request
        self.hash_of: dict[int, bytes] = {}
        self.evicted: dict[bytes, tuple[int, int, int]] = {}  # hash -> block, step, taker
        self.seen: list[int] = []

    def add(self, step: int, request: int, first: int, blocks: Sequence[int]) -> None:
        """Blocks of a request got the hashes from logical block `first` on."""
        if request not in self.seen:
            self.seen.append(request)
        for logical, block in enumerate(blocks, first):
            key = self.hash_of[block] = self.chains[request][logical]
            self.holders.setdefault(key, {})[block] = (step, request)

    def evict(self, step: int, taker: int, blocks: Sequence[int]) -> None:
        """Blocks lost their hash."""
        for block in blocks:
            key = self.hash_of.pop(block)
            del self.holders[key][block]
            self.evicted[key] = (block, step, taker)

    def forget(self) -> None:
        """The whole cache was reset."""
        self.holders.clear()
        self.hash_of.clear()

    def look_up(
        self, step: int, request: int, num_tokens: int, hits: Sequence[int]
    ) -> Iterator[Verdict]:
        """A verdict for each block of the request's `num_tokens` tokens, of which `hits` hit."""
        for logical in range(-(-num_tokens // self.block_size)):
            if logical < len(hits):
                yield self._hit(step, request, logical, hits[logical])
            elif (logical + 1) * self.block_size > num_tokens:
                yield Verdict(step, request, logical, Reason.NOT_FULL, token=num_tokens)
            elif not self.seen:
                yield Verdict(step, request, logical, Reason.FIRST)
            elif logical > len(hits):
                yield self._behind_a_miss(step, request, logical)
            elif self._cached(request, logical):
                yield self._held_back(step, request, logical)
            else:
                yield self._first_miss(step, request, logical)

    def _cached(self, request: int, logical: int) -> dict[int, tuple[int, int]]:
        """Who holds the block's hash now, oldest first."""
        return self.holders.get(self.chains[request][logical], {})

    def _hit(self, step: int, request: int, logical: int, block: int) -> Verdict:
        since, owner = self._cached(request, logical)[block]
        return Verdict(step, request, logical, Reason.HIT, block, owner, since=since)

    def _held_back(self, step: int, request: int, logical: int) -> Verdict:
        block, (since, owner) = next(iter(self._cached(request, logical).items()))
        return Verdict(step, request, logical, Reason.HELD_BACK, block, owner, since=since)

    def _behind_a_miss(self, step: int, request: int, logical: int) -> Verdict:
        """Never cached: a request gives its last block back first, so a head outlives its tail."""
        if self.chains[request][logical] in self.evicted:
            return self._evicted(step, request, logical)
        other, _ = self._closest(request)
        block = slice(logical * self.block_size, (logical + 1) * self.block_size)
        same = other is not None and self.tokens[other][block] == self.tokens[request][block]
        return Verdict(step, request, logical, Reason.PARENT, other=other if same else None)

    def _evicted(self, step: int, request: int, logical: int) -> Verdict:
        block, since, taker = self.evicted[self.chains[request][logical]]
        return Verdict(step, request, logical, Reason.EVICTED, block, taker, since=since)

    def _first_miss(self, step: int, request: int, logical: int) -> Verdict:
        if self.chains[request][logical] in self.evicted:
            return self._evicted(step, request, logical)
        other, common = self._closest(request)
        if other is None or common < logical * self.block_size:
            return Verdict(step, request, logical, Reason.UNCACHED)
        if common >= (logical + 1) * self.block_size:
            salts = {self.requests[other].cache_salt, self.requests[request].cache_salt}
            reason = Reason.SALT if len(salts) > 1 else Reason.UNCACHED
            return Verdict(step, request, logical, reason, other=other)
        ends = common >= self.requests[other].prompt.num_tokens
        reason = Reason.ENDS if ends else Reason.TOKEN
        return Verdict(step, request, logical, reason, other=other, token=common)

    def _closest(self, request: int) -> tuple[int | None, int]:
        """The other request with the most leading tokens in common, and how many those are.

        Of equals the one with the same salt, then the earliest.
        """
        others = [other for other in self.seen if other != request]
        if not others:
            return None, 0
        salt = self.requests[request].cache_salt

        def likeness(other: int) -> tuple[int, bool]:
            same_salt = self.requests[other].cache_salt == salt
            return _common(self.tokens[request], self.tokens[other]), same_salt

        other = max(others, key=likeness)
        return other, likeness(other)[0]


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many leading tokens are the same."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def token_ids(spec: RequestSpec) -> tuple[int, ...]:
    """A request's prompt and what the model will answer. Raises TypeError when they are unknown."""
    if not isinstance(spec.prompt, TokenPrompt) or spec.output_token_ids is None:
        raise TypeError(f"{spec.id} has no token ids to tell its blocks by")
    return spec.prompt.token_ids + spec.output_token_ids
