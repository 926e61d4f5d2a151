"""How long each request's block table is, over the run."""

import numpy as np

from sim.columns import Column
from sim.events import EventKind
from sim.replay.request_rows import RequestRows
from sim.stays import Stays


class TableLengths:
    """Entries of the block tables after every row that changes one, by request and then by row.

    `step` is the first step whose frame shows the row's work, the number of steps if none does.
    """

    def __init__(self, stays: Stays) -> None:
        log = stays.rows
        row = RequestRows(log, EventKind.TOUCH, EventKind.TAKE, EventKind.RELEASE).rows
        given_back = log.kind[row] == EventKind.RELEASE
        change = (log.stop - log.start)[row] * np.where(given_back, -1, 1)
        self.request = log.request[row].astype(np.int64)
        self.step = stays.steps_begun(row)
        self.length = np.cumsum(change, dtype=np.int64)
        self._begins = np.diff(self.request, prepend=-1) != 0
        self.length -= np.repeat((self.length - change)[self._begins], self._pieces)
        self._num_steps = stays.num_steps

    @property
    def longest(self) -> int:
        """Entries of the longest table in any frame."""
        last = np.append(np.diff(self.step) > 0, True) | np.append(self._begins[1:], True)
        return int(self.length[last & (self.step < self._num_steps)].max(initial=0))

    def total(self, value: Column) -> Column:
        """In each step the sum over all tables, when a table has `value` from its row on."""
        change = np.diff(value, prepend=0)
        change[self._begins] = value[self._begins]
        total = np.bincount(self.step, change, self._num_steps + 1)
        return np.cumsum(total)[:-1].astype(np.int64)

    @property
    def _pieces(self) -> Column:
        """How many rows each request has."""
        return np.diff(np.append(np.flatnonzero(self._begins), len(self._begins)))
