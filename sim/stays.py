"""Stays: each time a request was in running, from an admission to its end or a preemption."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sim.columns import Column
from sim.event_log import EventLog
from sim.events import EventKind
from sim.replay.log_rows import LogRows
from sim.replay.request_rows import NO_ROW, RequestRows


@dataclass(frozen=True, slots=True)
class _Explicit:
    """The SCHEDULE rows by request, and the sum of their tokens before each place."""

    rows: RequestRows
    before: Column


class Stays:
    """All stays of a run, in order of admission; every column has an entry for each.

    `entry` is the row of the admission, `leave` that of the PREEMPT or FINISH that ended the stay,
    or the number of rows when nothing did. `hits` are the tokens found in the cache at the
    admission, `tokens` all that the request had then; `resumed`: had it been preempted before?
    """

    def __init__(self, log: EventLog) -> None:
        self.rows = rows = LogRows(log.columns, 0, len(log.columns["kind"]))
        self.num_steps = log.num_steps
        self._schedule_end = log.columns["schedule_end"].astype(np.int64)
        self.entry = rows.of(EventKind.ADMIT)
        self.request = rows.request[self.entry].astype(np.int64)
        self.hits = rows.a[self.entry].astype(np.int64)
        self.resumed = rows.b[self.entry] == 1
        self.leave = self._left()
        asked = RequestRows(rows, EventKind.LOOKUP)
        self.tokens = rows.a[last_row(asked, self.request, self.entry)].astype(np.int64)

    @property
    def first_step(self) -> Column:
        """The step of each admission."""
        return self.steps_begun(self.entry)

    @property
    def stop_step(self) -> Column:
        """The first step in which the request does not run any more; past the end if it does."""
        return self.steps_begun(self.leave)

    @cached_property
    def by_request(self) -> Column:
        """The stays by request, and of each in order of admission."""
        return np.lexsort((self.entry, self.request))

    def steps_begun(self, row: Column) -> Column:
        """How many steps had been scheduled when each row was written."""
        return np.asarray(np.searchsorted(self._schedule_end, row, side="right"))

    def computed(self, step: Column) -> Column:
        """Tokens that each stay's request has computed when so many steps were scheduled."""
        explicit = self._explicit
        first = explicit.rows.before(self.request, self.entry)
        last = explicit.rows.before(self.request, self._schedule_end[step - 1])
        ones = step - self.first_step - (last - first)
        return np.asarray(self.hits + ones + explicit.before[last] - explicit.before[first])

    @cached_property
    def dropped(self) -> Column:
        """What each request had computed when its stay ended."""
        return self.computed(self.stop_step)

    @cached_property
    def answering(self) -> Column:
        """The step after the one in which each request had computed all `tokens`: it decodes then.

        The stop step of those that never did.
        """
        low, high = self.first_step, self.stop_step
        while (low < high).any():
            middle = (low + high + 1) // 2
            done = self.computed(middle) >= self.tokens
            high = np.where(done & (low < high), middle - 1, high)
            low = np.where(done, low, middle)
        return np.asarray(np.minimum(low + 1, self.stop_step))

    @cached_property
    def _explicit(self) -> _Explicit:
        rows = RequestRows(self.rows, EventKind.SCHEDULE)
        return _Explicit(rows, np.append(0, np.cumsum(self.rows.a[rows.rows], dtype=np.int64)))

    def _left(self) -> Column:
        ends = RequestRows(self.rows, EventKind.PREEMPT, EventKind.FINISH)
        place = ends.before(self.request, self.entry)
        rows = np.append(ends.rows, len(self.rows.kind))[place]
        there = place < ends.before(self.request + 1, 0)
        return np.asarray(np.where(there, rows, len(self.rows.kind)))


def last_row(rows: RequestRows, requests: Column, before: Column) -> Column:
    """The last of some rows about each request before a row of its own, or NO_ROW."""
    place = rows.before(requests, before)
    found = np.append(rows.rows, NO_ROW)[place - 1]
    return np.where(place > rows.before(requests, 0), found, NO_ROW)
