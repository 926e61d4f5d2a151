"""How many tokens each running request computes in a step, and has computed."""

import numpy as np

from sim.columns import Column
from sim.events import EventKind
from sim.replay.lives import Alive
from sim.replay.log_rows import LogRows
from sim.replay.request_rows import RequestRows


class Computed:
    """Tokens by step: those of explicit SCHEDULE rows, and one a step else."""

    def __init__(self, log: LogRows, arrive_end: Column, schedule_end: Column) -> None:
        self._explicit = RequestRows(log, EventKind.SCHEDULE)
        self._tokens = np.concatenate([[0], np.cumsum(log.a[self._explicit.rows], dtype=np.int64)])
        self._a = log.a
        self._arrive_end, self._schedule_end = arrive_end, schedule_end

    def at(self, step: int, row: int, alive: Alive) -> tuple[Column, Column]:
        """Of those who run before a row of a step, in order of admission: its tokens, and all.

        All are those whose K and V are in the cache once the step has run.
        """
        index, admitted = alive.index[alive.running], alive.admitted[alive.running]
        first = self._explicit.before(index, admitted)
        stop = self._explicit.before(index, row)
        last = self._explicit.last(index, row)
        now = np.where(last >= self._arrive_end[step], self._a[last], 1)
        steps = step - np.searchsorted(self._schedule_end, admitted, side="right") + 1
        explicit = self._tokens[stop] - self._tokens[first]
        return now, self._a[admitted] + steps - (stop - first) + explicit
