"""The block tables of all running requests at any point of a log."""

from dataclasses import dataclass

import numpy as np

from sim.columns import Column
from sim.events import EventKind
from sim.replay.lives import Alive
from sim.replay.log_rows import LogRows, spans
from sim.replay.request_rows import RequestRows

ROWS_AT_ONCE = 2**16  # bounds what building `Gains` takes beside its result


@dataclass(frozen=True, slots=True)
class BlockTables:
    """Block tables one after another: all entries, int64, and where each table stops in them."""

    blocks: Column
    stop: Column

    def __getitem__(self, place: int) -> tuple[int, ...]:
        first = self.stop[place - 1] if place else 0
        return tuple(self.blocks[first : self.stop[place]].tolist())

    def ref_cnt(self, num_blocks: int) -> Column:
        """How many tables hold each block of the pool, int32."""
        ref_cnt = np.zeros(num_blocks, np.int32)
        np.add.at(ref_cnt, self.blocks, np.int32(1))  # 30 times as slow with another type than its
        return ref_cnt

    def fill(self, computed: Column, block_size: int, ref_cnt: Column, prefix_id: Column) -> Column:
        """Tokens in each block of the pool, int32, when each table has `computed` tokens.

        Held blocks are full up to the one in which a table's tokens end, which nobody shares; free
        ones are when they have a hash.
        """
        length = np.diff(self.stop, prepend=0)
        full = np.minimum(computed // block_size, length)
        rest = length - full
        tokens = np.repeat(computed, rest) - spans(full, rest) * block_size
        fill = ((ref_cnt > 0) | (prefix_id >= 0)) * np.int32(block_size)
        fill[self.blocks[spans(self.stop - rest, rest)]] = np.maximum(tokens, 0)
        return fill


class Gains:
    """All blocks that each request ever touched or took, in that order, request by request.

    A block table is a stretch of them: what came since the request was last preempted.
    """

    def __init__(self, log: LogRows) -> None:
        self._gains = RequestRows(log, EventKind.TOUCH, EventKind.TAKE)
        rows = self._gains.rows
        start, length = log.start[rows], log.stop[rows] - log.start[rows]
        self._end = np.concatenate([[0], np.cumsum(length, dtype=np.int64)])
        self._blocks = np.empty(self._end[-1], np.int32)
        for i in range(0, len(rows), ROWS_AT_ONCE):
            some = slice(i, i + ROWS_AT_ONCE)
            part = log.payload[spans(start[some], length[some])]
            self._blocks[self._end[i] : self._end[i] + len(part)] = part

    def before(self, row: int, alive: Alive) -> BlockTables:
        """The tables before a row of those who run, in order of admission."""
        index = alive.index[alive.running]
        since = np.maximum(alive.preempted[alive.running], 0)
        first = self._end[self._gains.before(index, since)]
        stop = self._end[self._gains.before(index, row)]
        tables = [self._blocks[i:j] for i, j in zip(first.tolist(), stop.tolist(), strict=True)]
        blocks = np.concatenate([np.zeros(0, np.intp), *tables])
        return BlockTables(blocks, np.cumsum(stop - first))
