"""Where an element of the KV cache lies: index → address, in each of four layouts.

A layout is an order of axes, outermost first; an address is Horner's rule over it. What a warp of
the classic CUDA kernel loads at once, and what that costs in 32-byte sectors, follows from it.

    NHD      [block, slot, head, d]            K and V each in a cache of its own
    HND      [block, head, slot, d]            the same
    packed   [block, slot, head, K|V, d]       one cache (vLLM 0.26.0, in its NHD order)
    x-split  K [block, head, chunk, slot, x]   chunk = d // x, x = 16 // element_size
             V [block, head, d, slot]

Sources: vLLM 0.26.0 `v1/attention/ops/paged_attn.py` `split_kv_cache` and
`v1/attention/backends/flash_attn.py` `get_kv_cache_stride_order`; the loads: vLLM's
csrc/attention/attention_kernels.cuh, `paged_attention_kernel`, which has block sizes 8, 16 and 32.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypeVar

import numpy as np

from sim.columns import Column

CHUNK_BYTES = 16  # of a key, which a group of threads fetches at a time
SECTOR_BYTES = 32  # the least that a GPU moves from its memory
WARP = 32  # threads
BLOCK_SIZES = (8, 16, 32)

Cache = Literal["K", "V"]
Index = TypeVar("Index", int, Column)


class Layout(Enum):
    """The order of a cache's axes, by the name that it goes by."""

    NHD = "NHD"
    HND = "HND"
    PACKED = "packed K|V"
    X_SPLIT = "classic x-split"


@dataclass(frozen=True, slots=True)
class CacheShape:
    """Sizes of a cache: tokens a block, KV heads, elements a head, bytes an element."""

    block_size: int
    num_kv_heads: int
    head_size: int
    element_size: int

    @property
    def x(self) -> int:
        """Elements of a 16-byte chunk."""
        return CHUNK_BYTES // self.element_size

    @property
    def compute_size(self) -> int:
        """Bytes of an element as the kernel computes with it: keys in 8 bits become 16."""
        return max(self.element_size, 2)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: what it counts, and how many."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Loads:
    """What one warp loads of one head's block, load by load: int32 [loads, WARP, elements].

    A thread reads `slot[i, thread]`, `d[i, thread]` in load i; both are -1 where it has none left.
    """

    slot: Column
    d: Column


@dataclass(frozen=True, slots=True)
class Cost:
    """One load of a warp in some layout.

    `runs` are its bytes as [start, stop) pairs from the cache's start, int64 [n, 2];
    `thread_reads` is how many pieces each thread's elements lie in.
    """

    runs: Column
    num_bytes: int
    sectors: int
    thread_reads: int

    @property
    def used_share(self) -> float:
        """Share of the moved bytes that the warp asked for."""
        return self.num_bytes / (self.sectors * SECTOR_BYTES)


def axes(layout: Layout, cache: Cache, shape: CacheShape) -> tuple[Axis, ...]:
    """The axes within a block, outermost first; the block itself comes before them."""
    slot, head = Axis("slot", shape.block_size), Axis("head", shape.num_kv_heads)
    d = Axis("d", shape.head_size)
    if layout is Layout.NHD:
        return slot, head, d
    if layout is Layout.HND:
        return head, slot, d
    if layout is Layout.PACKED:
        return slot, head, Axis("K|V", 2), d
    if cache == "V":
        return head, d, slot
    return head, Axis("chunk", shape.head_size // shape.x), slot, Axis("x", shape.x)


def block_elements(layout: Layout, cache: Cache, shape: CacheShape) -> int:
    """Elements from one block to the next."""
    return int(np.prod([axis.size for axis in axes(layout, cache, shape)]))


def element(
    layout: Layout, cache: Cache, shape: CacheShape, block: int, slot: Index, head: Index, d: Index
) -> Index:
    """The element's number from the start of its cache; of many at once with arrays."""
    at: Any = block
    for axis, index in _indices(layout, cache, shape, slot, head, d):
        at = at * axis.size + index
    number: Index = at
    return number


def arithmetic(
    layout: Layout, cache: Cache, shape: CacheShape, block: int, slot: int, head: int, d: int
) -> str:
    """The same in words: `((3×16 + 5)×4 + 0)×128 + 27`."""
    words = str(block)
    for axis, index in _indices(layout, cache, shape, slot, head, d):
        inner = f"({words})" if " " in words else words
        words = f"{inner}×{axis.size} + {index}"
    return words


def elements(layout: Layout, cache: Cache, shape: CacheShape) -> Column:
    """Elements of a block from its start: int64 [block_size, num_kv_heads, head_size]."""
    sizes = (shape.block_size, shape.num_kv_heads, shape.head_size)
    slot, head, d = np.indices(sizes, np.int64)
    return element(layout, cache, shape, 0, slot, head, d)


def _indices(
    layout: Layout, cache: Cache, shape: CacheShape, slot: Any, head: Any, d: Any
) -> Iterator[tuple[Axis, Any]]:
    """Each axis within a block, and where the element lies on it."""
    places = {"slot": slot, "head": head, "d": d, "chunk": d // shape.x, "x": d % shape.x}
    places["K|V"] = int(cache == "V")
    for axis in axes(layout, cache, shape):
        yield axis, places[axis.name]


def loads(cache: Cache, shape: CacheShape) -> Loads:
    """What one warp reads of a head's block, whatever the layout: the classic kernel's order."""
    return _key_loads(shape) if cache == "K" else _value_loads(shape)


def threads_a_token(shape: CacheShape) -> int:
    """THREAD_GROUP_SIZE: threads that share a key."""
    return WARP // shape.block_size


def _key_loads(shape: CacheShape) -> Loads:
    """A group of threads has one token, and 16 bytes (as computed with) of its key at a time."""
    group = threads_a_token(shape)
    each = max(CHUNK_BYTES // (group * shape.compute_size), 1)
    load, thread, k = np.indices((shape.head_size // (group * each), WARP, each))
    d = (load * group + thread % group) * each + k
    return _loads(thread // group, d, shape)


def _value_loads(shape: CacheShape) -> Loads:
    """A thread has one row d, and 16 bytes of its tokens at a time."""
    each = min(CHUNK_BYTES // shape.compute_size, shape.block_size)
    threads_a_row = shape.block_size // each
    rows = WARP // threads_a_row
    load, thread, k = np.indices((-(-shape.head_size // rows), WARP, each))
    slot = thread % threads_a_row * each + k
    return _loads(slot, thread // threads_a_row + load * rows, shape)


def _loads(slot: Column, d: Column, shape: CacheShape) -> Loads:
    there = d < shape.head_size
    return Loads(*(np.where(there, column, -1).astype(np.int32) for column in (slot, d)))


def cost(layout: Layout, cache: Cache, shape: CacheShape, block: int, head: int, load: int) -> Cost:
    """Load number `load` of a head's block, in a layout."""
    asked = loads(cache, shape)
    at = elements(layout, cache, shape)[asked.slot[load], head, asked.d[load]]
    at = at[asked.d[load][:, 0] >= 0]  # threads with something left
    start = (block * block_elements(layout, cache, shape) + at) * shape.element_size
    runs = _runs(start, shape.element_size)
    sectors = np.unique(start // SECTOR_BYTES)
    pieces = 1 + (np.diff(at, axis=1) != 1).sum(axis=1)
    return Cost(runs, at.size * shape.element_size, len(sectors), int(pieces.max()))


def _runs(start: Column, size: int) -> Column:
    """Bytes of elements that begin at `start`, put together where they touch."""
    firsts = np.unique(start)
    breaks = np.flatnonzero(np.diff(firsts) != size)
    begin = firsts[np.concatenate([[0], breaks + 1])]
    end = firsts[np.concatenate([breaks, [len(firsts) - 1]])] + size
    return np.column_stack([begin, end])
