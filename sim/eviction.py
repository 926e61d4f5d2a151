"""Evictions: a block was taken while it had a hash. What stood in the free queue, what was lost."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.columns import Column
from sim.event_log import EventLog
from sim.events import EventKind
from sim.replay.log_rows import LogRows, spans
from sim.replay.pool_state import NONE, PoolState


@dataclass(frozen=True, slots=True)
class Again:
    """Who computed the tokens of an evicted block again: the first step, into which block."""

    step: int
    request: int
    block: int


@dataclass(frozen=True, slots=True)
class Eviction:
    """`request` took `taken` blocks in one row of the log, and `block` lost its hash by that.

    Those of `before` were taken before it. `blank` free blocks without a hash were left in the
    queue; `copy` is another block with the same `prefix`.
    """

    row: int
    step: int
    request: int
    block: int
    prefix: int
    taken: int
    before: tuple[int, ...]
    blank: int
    copy: int | None
    again: Again | None


def evictions(log: EventLog) -> list[Eviction]:
    """All evictions of a run, in order."""
    columns = log.columns
    rows = np.flatnonzero((columns["kind"] == EventKind.TAKE) & (columns["a"] > 0))
    return [eviction for row in rows.tolist() for eviction in evicted_in(log, row)]


def evicted_in(log: EventLog, row: int) -> Iterator[Eviction]:
    """The evictions of a row that takes blocks."""
    pool = _pool_before(log, row)
    taken = log.payload(row).tolist()
    left = pool.free_queue[len(taken) :]
    blank = int((pool.prefix_id[left] == NONE).sum())
    request = int(log.columns["request"][row])
    step = int(np.searchsorted(log.columns["schedule_end"], row, side="right"))
    after = pool.prefix_id.copy()
    after[taken] = NONE
    for place, block in enumerate(taken):
        if (prefix := int(pool.prefix_id[block])) != NONE:
            before = tuple(taken[:place])
            facts = (row, step, request, block, prefix, len(taken), before, blank)
            copy = next(iter(np.flatnonzero(after == prefix).tolist()), None)
            yield Eviction(*facts, copy, _again(log, row, prefix))


def _again(log: EventLog, row: int, prefix: int) -> Again | None:
    """The first caching of a prefix after a row."""
    rows = LogRows(log.columns, 0, len(log.columns["kind"]))
    cache = rows.of(EventKind.CACHE)
    cache = cache[cache > row]
    count = rows.b[cache]
    ids = rows.payload[spans(rows.start[cache] + count, count)]
    found = np.flatnonzero(ids == prefix)[:1]
    if not len(found):
        return None
    at = int(cache[np.searchsorted(np.cumsum(count), found, side="right")][0])
    place = log.payload(at)[log.columns["b"][at] :].tolist().index(prefix)
    step = int(np.searchsorted(log.columns["schedule_end"], at, side="right"))
    return Again(step, int(log.columns["request"][at]), int(log.payload(at)[place]))


def _pool_before(log: EventLog, row: int) -> PoolState:
    return log.replay.keyframes.pool(row, _ref_cnt(log, row))


def _ref_cnt(log: EventLog, row: int) -> Column:
    """How many requests hold each block before a row."""
    rows = LogRows(log.columns, 0, row)

    def named(*kinds: EventKind) -> Column:
        of = rows.of(*kinds)
        blocks = rows.blocks(spans(rows.start[of], rows.stop[of] - rows.start[of]))
        return np.bincount(blocks, minlength=log.scenario.num_gpu_blocks)

    return named(EventKind.TAKE, EventKind.TOUCH) - named(EventKind.RELEASE)
