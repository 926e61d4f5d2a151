"""Which block held which prefix when, and how it was lost, found in the rows of a log.

A block holds a prefix from its CACHE row to the next TAKE or EVICT row that names it, or until the
next reset.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sim.columns import Column
from sim.event_log import EventLog
from sim.events import EventKind
from sim.replay.log_rows import spans


@dataclass(frozen=True, slots=True)
class Copy:
    """A block that holds a prefix from row `cached` on, until row `lost` if it was lost."""

    block: int
    cached: int
    lost: int | None


class CacheHistory:
    """All that was ever cached in a run. The blocks are gathered when first asked for."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self._columns = log.columns
        self._step_end = log.columns["update_end"].astype(np.int64)  # as the rows asked about

    def step_of(self, row: int | Column) -> Column:
        """The step in which each row was written."""
        return np.asarray(np.searchsorted(self._step_end, row, side="right"))

    def seen(self, before: int) -> list[int]:
        """Requests that cached a block before a row, in the order in which they first did."""
        requests, rows = self._first_cached
        return list(requests[: np.searchsorted(rows, before)].tolist())

    def cached_rows(self, blocks: Column, before: int) -> Column:
        """The last row before a row in which each of some cached blocks got its hash."""
        gained = self._gained
        names = gained.blocks[: gained.count(before)]
        last = np.zeros(self.log.scenario.num_gpu_blocks, np.int64)
        index = self._places(names, blocks)
        last[names[index]] = index
        return gained.row_of(last[blocks])

    def held_hash(self, block: int, before: int) -> bool:
        """Did a block hold a hash before a row?"""
        gained = self._gained
        named = np.flatnonzero(gained.blocks[: gained.count(before)] == block)[-1:]
        lost = self._lost(gained.blocks[named], gained.row_of(named))
        return bool((lost >= before).any())

    def copies(self, num_blocks: Column, before: int) -> dict[int, Copy]:
        """By logical block, the copy of it that tells what became of it before a row.

        `num_blocks` says of each request how many of its leading blocks are meant. Of several
        copies it is the oldest that was not lost by then, or else the last that was.
        """
        logical, block, cached = self._cachings(num_blocks, before)
        lost = np.minimum(self._lost(block, cached), before)
        order = np.lexsort((-lost, logical))
        _, first = np.unique(logical[order], return_index=True)
        chosen = order[first]
        found = zip(*(c[chosen].tolist() for c in (logical, block, cached, lost)), strict=True)
        return {i: Copy(b, since, end if end < before else None) for i, b, since, end in found}

    def _cachings(self, num_blocks: Column, before: int) -> tuple[Column, Column, Column]:
        """(logical block, block, row) of each caching that is meant, in order."""
        gained = self._gained
        rows = gained.rows[: np.searchsorted(gained.rows, before)]
        request, a, b = (self._columns[name][rows] for name in ("request", "a", "b"))
        length = np.clip(num_blocks[request] - a, 0, b)
        index = spans(gained.offset[: len(rows)], length)
        return spans(a, length), gained.blocks[index], np.repeat(rows, length)

    def _lost(self, block: Column, cached: Column) -> Column:
        """The first row after `cached` in which each block lost its hash; past the end if in none.

        Blocks and rows make one number each, block * num_rows + row, so that the next eviction of
        a block is the next number, if that is of the same block.
        """
        num_rows, evicted = len(self._columns["kind"]), self._evicted
        index = self._places(evicted.blocks, block)
        losses = np.sort(evicted.blocks[index].astype(np.int64) * num_rows + evicted.row_of(index))
        losses = np.append(losses, np.iinfo(np.int64).max)
        following = losses[np.searchsorted(losses, block.astype(np.int64) * num_rows + cached)]
        eviction = np.where(following // num_rows == block, following % num_rows, num_rows)
        reset = np.append(self._resets, num_rows)[np.searchsorted(self._resets, cached)]
        return np.asarray(np.minimum(eviction, reset))

    def _places(self, names: Column, blocks: Column) -> Column:
        """Where any of some blocks is named, in order."""
        asked = np.zeros(self.log.scenario.num_gpu_blocks, np.bool_)
        asked[blocks] = True
        return np.flatnonzero(asked[names])

    @cached_property
    def _first_cached(self) -> tuple[Column, Column]:
        """Requests that ever cached a block, by the first row in which they did."""
        rows = np.flatnonzero(self._columns["kind"] == EventKind.CACHE)
        requests, first = np.unique(self._columns["request"][rows], return_index=True)
        order = np.argsort(first)
        return requests[order], rows[first[order]]

    @cached_property
    def _gained(self) -> "_Named":
        return _Named(self._columns, (EventKind.CACHE,), self._columns["b"])

    @cached_property
    def _evicted(self) -> "_Named":
        length = np.diff(self._columns["payload_end"], prepend=0)
        return _Named(self._columns, (EventKind.TAKE, EventKind.EVICT), length)

    @cached_property
    def _resets(self) -> Column:
        """Rows in which everything was forgotten."""
        done = (self._columns["kind"] == EventKind.RESET) & (self._columns["a"] == 1)
        return np.flatnonzero(done)


class _Named:
    """The blocks that the rows of some kinds name, first in their payload, row after row.

    `offset[i]` is where those of row `rows[i]` start; `num_named` says how many each row has.
    """

    def __init__(
        self, columns: Mapping[str, Column], kinds: tuple[EventKind, ...], num_named: Column
    ) -> None:
        of_kind = np.isin(columns["kind"], kinds)
        length = np.diff(columns["payload_end"], prepend=0)
        named = np.where(of_kind, num_named, 0)
        runs = np.column_stack([named, length - named]).ravel()
        is_named = np.repeat(np.tile([True, False], len(length)), runs)
        self.rows = np.flatnonzero(of_kind)
        self.offset = np.append(0, np.cumsum(named[self.rows], dtype=np.int64))
        self.blocks = columns["payload"][is_named]

    def count(self, before: int) -> int:
        """Blocks named before a row."""
        return int(self.offset[np.searchsorted(self.rows, before)])

    def row_of(self, index: Column) -> Column:
        """The row that names each of some blocks, given by their places in `blocks`."""
        return self.rows[np.searchsorted(self.offset, index, side="right") - 1]
