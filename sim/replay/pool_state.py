"""The pool before a row of a log, and how rows change it.

What a block is comes from the last row that wrote to it, so a stretch of rows is applied at once:
every write goes to its block in order of row, and the last one stays.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from sim.columns import Column
from sim.events import EventKind
from sim.replay.log_rows import LogRows, spans

NONE = -1
NOTHING = np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True)
class PoolState:
    """The hashes of all blocks and the free queue; all arrays are int32.

    Blocks are handed out for the first time in order of id, so those from `fresh` on never were:
    they are free, have no hash, and stand in the queue in one piece, behind `ahead` and before
    `behind`, for blocks let go join an end.

    | ahead | fresh .. num_blocks - 1 | behind |
    ^ head                               tail ^

    `prefix_id` and `cached_order` (-1: no hash) have an entry for each block, those from `fresh` on
    may be left out; `cached_order` is the block's place in the log's payload when it got its hash.
    """

    fresh: int
    ahead: Column
    behind: Column
    prefix_id: Column
    cached_order: Column

    @classmethod
    def initial(cls) -> Self:
        """Before the first row: all is free but the null block."""
        return cls(1, NOTHING, NOTHING, NOTHING, NOTHING)

    @property
    def nbytes(self) -> int:
        """Size of the arrays."""
        arrays = (self.ahead, self.behind, self.prefix_id, self.cached_order)
        return sum(array.nbytes for array in arrays)

    @property
    def free_queue(self) -> Column:
        """All free blocks of the pool, from head to tail."""
        fresh = np.arange(self.fresh, len(self.prefix_id), dtype=np.int32)
        return np.concatenate([self.ahead, fresh, self.behind])

    def short(self) -> Self:
        """The same without entries of blocks that were never handed out."""
        hashes = self.prefix_id[: self.fresh], self.cached_order[: self.fresh]
        return replace(self, prefix_id=hashes[0].copy(), cached_order=hashes[1].copy())

    def after(
        self, columns: Mapping[str, Column], begin: int, end: int, ref_cnt: Column
    ) -> "PoolState":
        """The state before row `end`, when this one is that before row `begin`.

        `ref_cnt` says how many requests hold each block of the pool before row `end`.
        """
        rows = LogRows(columns, begin, end)
        return PoolState(*self._queue(rows, ref_cnt), *self._hashes(rows, len(ref_cnt)))

    def _queue(self, rows: LogRows, ref_cnt: Column) -> tuple[int, Column, Column]:
        """`fresh`, `ahead` and `behind` after rows.

        Free blocks that were in the queue and that no row let go of keep their place; others stand
        where the last row that let go of them put them.
        """
        release = rows.of(EventKind.RELEASE)
        to_head, to_tail = rows.a[release], rows.b[release]
        position = spans(rows.start[release], to_head + to_tail)
        blocks = rows.blocks(position)
        fresh = self._fresh(ref_cnt, blocks)
        free = ref_cnt[:fresh] == 0
        let_go = np.empty(fresh, np.int32)
        let_go[blocks] = position
        last = free[blocks] & (let_go[blocks] == position)
        free[blocks] = False
        ahead, behind = (queue[free[queue.astype(np.intp)]] for queue in (self.ahead, self.behind))

        def joined(first: Column, length: Column) -> Column:
            places = spans(first, length)
            standing: Column = blocks[places[last[places]]]
            return standing.astype(np.int32)

        middle = np.cumsum(to_head + to_tail) - to_tail
        head = joined((middle - to_head)[::-1], to_head[::-1])
        tail = joined(middle, to_tail)
        return fresh, np.concatenate([head, ahead]), np.concatenate([behind, tail])

    def _fresh(self, ref_cnt: Column, let_go: Column) -> int:
        """The first block never handed out: all others were before, are held, or were let go."""
        held = self.fresh + np.flatnonzero(ref_cnt[self.fresh :])
        return 1 + int(max(self.fresh - 1, held.max(initial=0), let_go.max(initial=0)))

    def _hashes(self, rows: LogRows, num_blocks: int) -> tuple[Column, Column]:
        """`prefix_id` and `cached_order` after rows: what the last to give or take a hash left."""
        reset = rows.of(EventKind.RESET)
        reset = reset[rows.a[reset] == 1].max(initial=NONE)
        cache, evict = rows.of(EventKind.CACHE), rows.of(EventKind.TAKE, EventKind.EVICT)
        cache = cache[cache > reset]
        prefix_id = _padded(self.prefix_id if reset == NONE else NOTHING, num_blocks)
        cached_order = _padded(self.cached_order if reset == NONE else NOTHING, num_blocks)
        count = rows.b[cache]
        position = spans(rows.start[cache], count)
        blocks = rows.blocks(position)
        prefix_id[blocks] = rows.payload[spans(rows.start[cache] + count, count)]
        cached_order[blocks] = position
        position = spans(rows.start[evict], rows.stop[evict] - rows.start[evict])
        blocks = rows.blocks(position)
        lost = blocks[cached_order[blocks] < position]
        prefix_id[lost] = cached_order[lost] = NONE
        return prefix_id, cached_order


def _padded(hashes: Column, num_blocks: int) -> Column:
    """A copy with an entry for each block of the pool."""
    return np.concatenate([hashes, np.full(num_blocks - len(hashes), NONE, np.int32)])
