"""The life of one block: each time a row of the log changed what it is, in order."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sim.event_log import EventLog
from sim.events import EventKind

NAMING = (EventKind.TOUCH, EventKind.TAKE, EventKind.EVICT, EventKind.CACHE, EventKind.RELEASE)


class Change(StrEnum):
    """What happened to the block."""

    EVICTED = "evicted"  # it lost its hash, because a request takes it
    FORGOTTEN = "forgotten"  # it lost its hash where it was
    TAKEN = "taken"  # from the head of the free queue
    HIT = "hit"  # found by its hash, held by one more
    HASHED = "hashed"  # full, so it got a hash
    LET_GO = "let go"  # held by one less


@dataclass(frozen=True, slots=True)
class Moment:
    """One change, by `row` of the log; `step` is the first that shows it.

    `request` (an index in the scenario) is who did it, and the block is its logical block
    `logical`. `holders` are the requests that hold it afterwards; `prefix` is the id of the hash
    that it has then, or that it lost. `to_head`: was it put back at the free queue's head?
    """

    row: int
    step: int
    change: Change
    request: int | None = None
    logical: int | None = None
    holders: int = 0
    prefix: int | None = None
    to_head: bool = False


def block_life(log: EventLog, block: int) -> list[Moment]:
    """All changes of a block in a run, in order."""
    return list(_Life(log, block).moments())


class _Life:
    """The rows that name a block: which, at which place of their payload, and how long that is."""

    def __init__(self, log: EventLog, block: int) -> None:
        self.columns = columns = log.columns
        ends = columns["payload_end"].astype(np.int64)
        at = np.flatnonzero(columns["payload"] == block)
        row = np.searchsorted(ends, at, side="right")
        length = np.diff(ends, prepend=0)[row]
        place = at - (ends[row] - length)
        kind = columns["kind"][row]
        is_prefix = (kind == EventKind.CACHE) & (place >= columns["b"][row])
        named = np.isin(kind, NAMING) & ~is_prefix
        self.row, self.place, self.length = row[named], place[named], length[named]
        self.logical = self._logical(log, block)
        self.step_end = columns["schedule_end"].astype(np.int64)

    def moments(self) -> Iterator[Moment]:
        """The rows in order, resets between them."""
        holders, prefix = 0, None
        for row, i in self._in_order():
            kind, request, a, b = (
                int(self.columns[name][row]) for name in ("kind", "request", "a", "b")
            )
            facts = (row, int(np.searchsorted(self.step_end, row, side="right")))
            logical = None if i is None else self.logical[i]
            if prefix is not None and kind in (EventKind.TAKE, EventKind.EVICT, EventKind.RESET):
                taken = kind == EventKind.TAKE
                change = Change.EVICTED if taken else Change.FORGOTTEN
                yield Moment(*facts, change, request if taken else None, None, holders, prefix)
                prefix = None
            if kind == EventKind.CACHE:
                prefix = self._prefix(row, i, b)
                yield Moment(*facts, Change.HASHED, request, logical, holders, prefix)
            elif kind in (EventKind.TAKE, EventKind.TOUCH):
                holders += 1
                change = Change.TAKEN if kind == EventKind.TAKE else Change.HIT
                yield Moment(*facts, change, request, logical, holders, prefix)
            elif kind == EventKind.RELEASE:
                holders -= 1
                to_head = i is not None and int(self.place[i]) < a
                yield Moment(*facts, Change.LET_GO, request, logical, holders, prefix, to_head)

    def _in_order(self) -> list[tuple[int, int | None]]:
        """Rows that name the block, by their index, and rows that reset the cache."""
        done = (self.columns["kind"] == EventKind.RESET) & (self.columns["a"] == 1)
        resets = [(row, None) for row in np.flatnonzero(done).tolist()]
        return sorted([*zip(self.row.tolist(), range(len(self.row)), strict=True), *resets])

    def _prefix(self, row: int, i: int | None, num_blocks: int) -> int:
        """The id beside the block in a CACHE row."""
        first = int(self.columns["payload_end"][row]) - 2 * num_blocks
        return int(self.columns["payload"][first + num_blocks + int(self.place[i or 0])])

    def _logical(self, log: EventLog, block: int) -> list[int | None]:
        """Which block of its table it was for the request of each row.

        A table is told when it is given back, its last block first, so the rows are read from the
        last one; who gave nothing back has its table still.
        """
        requests = self.columns["request"][self.row].tolist()
        kinds = self.columns["kind"][self.row].tolist()
        found: list[int | None] = [None] * len(self.row)
        known = self._at_the_end(log, block)
        for i in range(len(self.row) - 1, -1, -1):
            if kinds[i] == EventKind.RELEASE:
                known[requests[i]] = int(self.length[i] - 1 - self.place[i])
            found[i] = known.get(requests[i])
        return found

    def _at_the_end(self, log: EventLog, block: int) -> dict[int, int]:
        """Who holds the block when the run ends, and as which of its blocks."""
        frame = log.frame(log.num_steps - 1, "update")
        index = {spec.id: r for r, spec in enumerate(log.scenario.requests)}
        tables = ((index[id], r.block_table) for id, r in frame.requests.items() if r.block_table)
        return {r: table.index(block) for r, table in tables if block in table}
