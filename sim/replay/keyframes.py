"""Keyframes: the pool's state now and then, so that no frame has to begin at the first row."""

from bisect import bisect_right
from collections.abc import Callable, Mapping

import numpy as np

from sim.columns import Column
from sim.replay.pool_state import PoolState

ROW_BYTES = 17  # kind, request, a, b, payload_end
PAYLOAD_BYTES = 4
SHARE = 2  # bytes of keyframes for each byte of log
SPACING = 4 * 2**20  # bytes of log that are read in a few milliseconds

RefCnt = Callable[[int], Column]  # of all blocks, before a row


class Keyframes:
    """The pool at the end of some phases of steps; at any other end it is read on from there.

    `states` are those before `rows`. The next is due `spacing` bytes of log after the one before,
    or 1 / SHARE of that one's own size if this is more: a large pool has fewer, and all together
    take SHARE times the log, about.
    """

    def __init__(
        self, columns: Mapping[str, Column], ref_cnt: RefCnt, spacing: int = SPACING
    ) -> None:
        self._columns = columns
        self.rows, self.states = [0], [PoolState.initial()]
        ends = np.column_stack([columns["schedule_end"], columns["update_end"]]).ravel()
        log_bytes = _log_bytes(columns, ends)
        due = spacing
        while (place := int(np.searchsorted(log_bytes, due))) < len(ends):
            row = int(ends[place])
            self.states.append(self.pool(row, ref_cnt(row)).short())
            self.rows.append(row)
            due = int(log_bytes[place]) + max(spacing, self.states[-1].nbytes // SHARE)

    def pool(self, row: int, ref_cnt: Column) -> PoolState:
        """The state of the pool before a row that ends a phase, where `ref_cnt` is known."""
        nearest = bisect_right(self.rows, row) - 1
        return self.states[nearest].after(self._columns, self.rows[nearest], row, ref_cnt)


def _log_bytes(columns: Mapping[str, Column], rows: Column) -> Column:
    """Bytes of the log before rows, int64."""
    payload = np.concatenate([np.zeros(1, np.int32), columns["payload_end"]])[rows]
    return ROW_BYTES * rows.astype(np.int64) + PAYLOAD_BYTES * payload.astype(np.int64)
