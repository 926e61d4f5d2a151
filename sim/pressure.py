"""A run as columns, one entry a step: who runs and waits, where the blocks are, what it costs.

Counts are those after `schedule()` of each step, as in `EventLog.frame`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sim.block_states import block_states
from sim.columns import Column
from sim.event_log import EventLog
from sim.events import EventKind
from sim.replay.request_rows import RequestRows
from sim.stays import Stays, last_row


@dataclass(frozen=True, slots=True)
class Pressure:
    """`used`, `shared`, `cached_free` and `free` are blocks; shared ones are used too. `tail_waste`
    are slots that are held without a token.

    The rest happened in the step: requests preempted, hashes evicted, requests finished (since the
    step before was scheduled), tokens looked up and hit at admissions of new requests and of
    resumed ones, and tokens to compute a second time.
    """

    engine_step: Column
    running: Column
    waiting: Column
    preempted_waiting: Column
    used: Column
    shared: Column
    cached_free: Column
    free: Column
    tail_waste: Column
    preemptions: Column
    evictions: Column
    finishes: Column
    asked_new: Column
    hit_new: Column
    asked_resumed: Column
    hit_resumed: Column
    recomputed: Column

    @property
    def num_steps(self) -> int:
        """Steps of the run."""
        return len(self.engine_step)


def pressure(
    log: EventLog, stays: Stays, progress: Callable[[float], object] | None = None
) -> Pressure:
    """All columns of a log, whose stays are known; `progress(share)` is called now and then."""
    rows, end = stays.rows, log.columns["schedule_end"].astype(np.int64)
    states = block_states(rows, log.scenario.num_gpu_blocks, progress)
    used, shared, cached = (
        np.append(0, column)[end] for column in (states.used, states.shared, states.cached_free)
    )
    after = _Rows(end, len(rows.kind))
    running = after.sum(stays.entry) - after.sum(stays.leave)
    arrived = after.sum(rows.of(EventKind.ARRIVE))
    finish = rows.of(EventKind.FINISH)
    preempt = rows.of(EventKind.PREEMPT)
    resumed = stays.entry[stays.resumed]
    abandoned = _finished_while_preempted(stays, finish)
    lost = rows.of(EventKind.TAKE, EventKind.EVICT)
    evicted = np.where(
        rows.kind[lost] == EventKind.TAKE, rows.a[lost], (rows.stop - rows.start)[lost]
    )
    new, again = ~stays.resumed, stays.resumed
    return Pressure(
        engine_step=log.columns["engine_step"],
        running=running,
        waiting=arrived - after.sum(finish) - running,
        preempted_waiting=after.sum(preempt) - after.sum(resumed) - after.sum(abandoned),
        used=used,
        shared=shared,
        cached_free=cached,
        free=log.scenario.num_gpu_blocks - 1 - used - cached,
        tail_waste=_tail_waste(log, stays, after, running),
        preemptions=after.each(preempt),
        evictions=after.each(lost, evicted),
        finishes=after.each(finish),
        asked_new=after.each(stays.entry[new], stays.tokens[new]),
        hit_new=after.each(stays.entry[new], stays.hits[new]),
        asked_resumed=after.each(resumed, stays.tokens[again]),
        hit_resumed=after.each(resumed, stays.hits[again]),
        recomputed=after.each(resumed, recomputed(stays)[again]),
    )


def recomputed(stays: Stays) -> Column:
    """Tokens that each stay computes although an earlier stay of its request had."""
    order = stays.by_request
    same = np.diff(stays.request[order], prepend=-1) == 0
    before = np.zeros(len(order), np.int64)
    before[order] = np.where(same, np.roll(stays.dropped[order], 1), 0)
    return np.asarray(np.maximum(before - stays.hits, 0))


class _Rows:
    """What rows say, summed over all steps so far or for each step."""

    def __init__(self, end: Column, num_rows: int) -> None:
        self._end, self._num_rows = end, num_rows

    def sum(self, index: Column, value: Column | None = None) -> Column:
        """The sum of values at rows, by default their number, up to each step."""
        total = np.bincount(index, weights=value, minlength=self._num_rows + 1)
        return np.append(0, np.cumsum(total)).astype(np.int64)[self._end]

    def each(self, index: Column, value: Column | None = None) -> Column:
        """The same within each step."""
        return np.diff(self.sum(index, value), prepend=0)


def _finished_while_preempted(stays: Stays, finish: Column) -> Column:
    """Rows in which a request was given up that was waiting to be resumed."""
    request = stays.rows.request[finish].astype(np.int64)
    preempted = last_row(RequestRows(stays.rows, EventKind.PREEMPT), request, finish)
    admitted = last_row(RequestRows(stays.rows, EventKind.ADMIT), request, finish)
    return finish[preempted > admitted]


def _tail_waste(log: EventLog, stays: Stays, after: _Rows, running: Column) -> Column:
    """Slots in tables without a token: shared blocks are full, so none counts twice."""
    rows = stays.rows
    gained, released = rows.of(EventKind.TOUCH, EventKind.TAKE), rows.of(EventKind.RELEASE)
    length = rows.stop - rows.start
    table = after.sum(gained, length[gained]) - after.sum(released, length[released])
    explicit = rows.of(EventKind.SCHEDULE)
    ones = np.cumsum(running - after.each(explicit))
    came = ones + after.sum(explicit, rows.a[explicit]) + after.sum(stays.entry, stays.hits)
    computed = came - after.sum(stays.leave, stays.dropped)
    return np.asarray(table * log.scenario.block_size - computed)
