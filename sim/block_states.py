"""How many blocks are in which state, row by row, without visiting a block twice.

Every row that touches blocks says so for each: one holder more or less, a hash gained or lost. The
changes of a stretch of rows are sorted by block, so that each block's history lies in one piece;
what a change does to the counts of the pool follows from the block's state before and after it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sim.columns import Column
from sim.events import EventKind
from sim.replay.log_rows import LogRows, spans

AT_ONCE = 1 << 20  # block ids in a stretch, about: bounds what is needed beside the result
GAIN, LOSE = 1, -1  # what a row does to a block's hash
CHANGES = (
    (EventKind.TOUCH, 1, 0),
    (EventKind.TAKE, 1, LOSE),
    (EventKind.RELEASE, -1, 0),
    (EventKind.CACHE, 0, GAIN),
    (EventKind.EVICT, 0, LOSE),
)


@dataclass(frozen=True, slots=True)
class BlockStates:
    """Blocks held, held by several, and free with a hash, after each row of a log."""

    used: Column
    shared: Column
    cached_free: Column


def block_states(
    rows: LogRows, num_blocks: int, progress: Callable[[float], object] | None = None
) -> BlockStates:
    """The counts after each row; `progress(share)` is called now and then."""
    pool = _Pool(rows, num_blocks)
    for begin, end in _stretches(rows):
        pool.read(begin, end)
        if progress:
            progress(end / len(rows.kind))
    return BlockStates(*np.cumsum(pool.change, axis=1, dtype=np.int32))


def _stretches(rows: LogRows) -> Iterator[tuple[int, int]]:
    """Begin and end of stretches of rows. Whoever forgets all hashes is alone in one."""
    num_rows = len(rows.kind)
    reset = rows.of(EventKind.RESET)
    reset = reset[rows.a[reset] == 1]
    sizes = range(AT_ONCE, int(rows.stop[-1]) if num_rows else 0, AT_ONCE)
    cuts = np.searchsorted(rows.stop, list(sizes))
    bounds = np.unique(np.concatenate([[0], cuts, reset, reset + 1, [num_rows]])).tolist()
    yield from pairwise(bounds)


class _Pool:
    """Holders and hash of every block before a row, and what each row before it changed."""

    def __init__(self, rows: LogRows, num_blocks: int) -> None:
        self._rows = rows
        self._ref = np.zeros(num_blocks, np.int32)
        self._has = np.zeros(num_blocks, np.bool_)
        self.change = np.zeros((3, len(rows.kind)), np.int32)

    def read(self, begin: int, end: int) -> None:
        """Go on from row `begin` to row `end`."""
        if self._rows.kind[begin] == EventKind.RESET:
            self._forget(begin)
            return
        row, block, holders, hashed = self._changes(begin, end)
        if len(row) == 0:
            return
        begins = np.diff(block, prepend=-1) != 0
        last = np.append(begins[1:], True)
        ref = np.cumsum(holders, dtype=np.int32)
        ref += np.repeat((self._ref[block] - ref + holders)[begins], _lengths(begins))
        has = self._hashes(begins, block, hashed)
        ref_before, had = (
            _before(begins, ref, self._ref[block]),
            _before(begins, has, self._has[block]),
        )
        for total, now, then in (
            (self.change[0], ref > 0, ref_before > 0),
            (self.change[1], ref > 1, ref_before > 1),
            (self.change[2], (ref == 0) & has, (ref_before == 0) & had),
        ):
            steps = np.bincount(row - begin, now.astype(np.int8) - then, end - begin)
            total[begin:end] = steps
        self._ref[block[last]], self._has[block[last]] = ref[last], has[last]

    def _forget(self, row: int) -> None:
        self.change[2, row] = -int((self._has & (self._ref == 0)).sum())
        self._has[:] = False

    def _changes(self, begin: int, end: int) -> tuple[Column, ...]:
        """(row, block, holders more or less, hash gained or lost), by block and then by row."""
        rows, parts = self._rows, []
        for kind, more, hash_change in CHANGES:
            index = begin + np.flatnonzero(rows.kind[begin:end] == kind)
            length = rows.stop[index] - rows.start[index]
            length = rows.b[index] if kind == EventKind.CACHE else length
            block = rows.payload[spans(rows.start[index], length)].astype(np.int64)
            key = block << 32 | np.repeat(index, length)
            parts.append((key, np.full(len(key), more), np.full(len(key), hash_change)))
        key, holders, hashed = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.argsort(key)
        key = key[order]
        return key & 0xFFFFFFFF, key >> 32, holders[order], hashed[order]

    def _hashes(self, begins: Column, block: Column, hashed: Column) -> Column:
        """Whether each block has a hash after each change."""
        place = np.where((hashed != 0) | begins, np.arange(len(block)), 0)
        last = np.maximum.accumulate(place)
        kept = np.where(begins & (hashed == 0), self._has[block], hashed == GAIN)
        return np.asarray(kept[last])


def _lengths(begins: Column) -> Column:
    return np.diff(np.append(np.flatnonzero(begins), len(begins)))


def _before(begins: Column, value: Column, first: Column) -> Column:
    """The value one change earlier; `first` where a block's piece begins."""
    return np.where(begins, first, np.roll(value, 1))
