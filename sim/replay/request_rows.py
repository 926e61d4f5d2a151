"""Which rows of a log are about which request."""

import numpy as np

from sim.columns import Column
from sim.events import EventKind
from sim.replay.log_rows import LogRows

NO_ROW = -1
ROW_BITS = 32
ROW_MASK = (1 << ROW_BITS) - 1


class RequestRows:
    """Rows of some kinds by request: those of one lie together, in the log's order.

    Requests are asked about many at once, as int64 arrays.
    """

    def __init__(self, log: LogRows, *kinds: EventKind) -> None:
        rows = log.of(*kinds)
        key = np.sort(log.request[rows].astype(np.int64) << ROW_BITS | rows)
        self._key = np.concatenate([[np.iinfo(np.int64).min], key])

    @property
    def rows(self) -> Column:
        """Indices of the rows in the log, int64."""
        rows: Column = self._key[1:] & ROW_MASK
        return rows

    def before(self, requests: Column, row: Column | int) -> Column:
        """The place in `rows` of the first row of each request that is not before `row`."""
        return np.searchsorted(self._key, requests << ROW_BITS | row) - 1

    def last(self, requests: Column, row: int) -> Column:
        """The last row about each request before `row`, or NO_ROW."""
        key = self._key[self.before(requests, row)]
        return np.where(key >> ROW_BITS == requests, key & ROW_MASK, NO_ROW)

    def count(self, requests: Column, row: int) -> Column:
        """How many rows about each request come before `row`."""
        return self.before(requests, row) - self.before(requests, 0)
