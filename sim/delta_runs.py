"""Whole numbers that mostly go up or down by the same step, in few bytes.

Block ids come in runs (7, 8, 9 when they are taken, 9, 8, 7 when a table is let go), so what is
written is the difference to the number before, once for as often as it comes:

    5 6 7 8 2 2   →   +5, +1 three times, -6, 0

First all heads, a head being 2 · zigzag(difference) + (1 if it repeats), then for those that repeat
how often they come; all as varints, seven bits a byte, low bits first. Differences wrap at 32 bits.
pages/player/js/delta_runs.js reads the same bytes.
"""

from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[Any]]
MOST_BYTES = 5  # of a varint: a head has 34 bits


def write_runs(column: Numbers) -> tuple[bytes, int]:
    """An int32 column as bytes, and the number of its heads."""
    steps = np.diff(column, prepend=np.int32(0))
    changes = np.ones(len(steps), bool)
    changes[1:] = steps[1:] != steps[:-1]
    starts = np.flatnonzero(changes)
    lengths = np.diff(starts, append=len(steps))
    repeats = lengths > 1
    heads = 2 * _zigzag(steps[starts]) + repeats
    return _write_varints(np.concatenate([heads, lengths[repeats]])), len(heads)


def read_runs(data: Numbers, num_heads: int, length: int) -> Numbers:
    """The column of `length` numbers with which `data`, uint8, begins.

    Raises ValueError when there is another number of them.
    """
    heads, rest = _read_varints(data, num_heads)
    repeats = heads % 2 == 1
    lengths = np.ones(num_heads, np.int64)
    lengths[repeats] = _read_varints(rest, int(repeats.sum()))[0]
    if lengths.sum() != length:
        raise ValueError(f"a column of {length:,} numbers has {lengths.sum():,}: it is damaged")
    return np.cumsum(np.repeat(_unzigzag(heads // 2), lengths), dtype=np.int32)


def _zigzag(steps: Numbers) -> Numbers:
    """0, -1, 1, -2, … as 0, 1, 2, 3, …"""
    wide = steps.astype(np.int64)
    return np.where(wide < 0, -2 * wide - 1, 2 * wide)


def _unzigzag(codes: Numbers) -> Numbers:
    return np.where(codes % 2, -(codes + 1) // 2, codes // 2)


def _write_varints(numbers: Numbers) -> bytes:
    sizes = np.ones(len(numbers), np.int64)
    for k in range(1, MOST_BYTES):
        sizes += numbers >> 7 * k > 0
    starts = np.cumsum(sizes) - sizes
    data = np.empty(int(sizes.sum()), np.uint8)
    for k in range(MOST_BYTES):
        there = sizes > k
        more = (sizes[there] > k + 1) * 0x80
        data[starts[there] + k] = numbers[there] >> 7 * k & 0x7F | more
    return data.tobytes()


def _read_varints(data: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """The first `count` numbers, and the bytes after them."""
    ends = np.flatnonzero(data < 0x80)[:count] + 1
    if len(ends) < count:
        raise ValueError("a column is cut short")
    starts = np.concatenate([[0], ends])[:count].astype(np.int64)
    numbers = np.zeros(count, np.int64)
    for k in range(MOST_BYTES):
        there = ends - starts > k
        numbers[there] |= (data[starts[there] + k] & 0x7F).astype(np.int64) << 7 * k
    return numbers, data[int(ends[-1]) if count else 0 :]
