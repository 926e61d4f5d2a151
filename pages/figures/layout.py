"""Two layouts of one KV block as the player's log: a position is one load of a warp.

Nothing is worked out in the browser but where a byte is drawn: places, runs and costs are those of
`sim.layout`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.columns import Column, pack
from sim.layout import (
    WARP,
    Cache,
    CacheShape,
    Layout,
    axes,
    block_elements,
    cost,
    elements,
    loads,
)

ROWS = 64  # of a block's memory, at most


@dataclass(frozen=True, slots=True)
class Place:
    """The element in question."""

    block: int
    slot: int
    head: int
    d: int


def layout_blob(sides: tuple[Layout, Layout], cache: Cache, shape: CacheShape, at: Place) -> bytes:
    """The log of the stage "layout": the same loads of one block, in two layouts."""
    asked = loads(cache, shape)
    header = {
        "stage": "layout",
        "num_steps": len(asked.slot),
        "cache": cache,
        "threads": WARP,
        "shape": {
            "block_size": shape.block_size,
            "num_kv_heads": shape.num_kv_heads,
            "head_size": shape.head_size,
            "element_size": shape.element_size,
        },
        "at": {"block": at.block, "slot": at.slot, "head": at.head, "d": at.d},
        "sides": [_side(layout, cache, shape) for layout in sides],
    }
    columns = {"load_slot": asked.slot.ravel(), "load_d": asked.d.ravel()}
    for number, layout in enumerate(sides):
        columns |= _columns(str(number), layout, cache, shape, at)
    return pack(header, columns)


def axes_words(layout: Layout, cache: Cache, shape: CacheShape) -> str:
    """The axes as they are written of a tensor's shape: `[blocks, 16 slots, 4 heads, 128]`."""
    words = {"slot": "{} slots", "head": "{} heads", "x": "x = {}", "K|V": "K|V"}
    names = [words.get(axis.name, "{}").format(axis.size) for axis in axes(layout, cache, shape)]
    return f"[blocks, {', '.join(names)}]"


def _side(layout: Layout, cache: Cache, shape: CacheShape) -> dict[str, Any]:
    block_bytes = block_elements(layout, cache, shape) * shape.element_size
    row_bytes = 64
    while row_bytes * ROWS < block_bytes:
        row_bytes *= 2
    return {
        "label": layout.value,
        "words": axes_words(layout, cache, shape),
        "axes": [[axis.name, axis.size] for axis in axes(layout, cache, shape)],
        "block_bytes": block_bytes,
        "row_bytes": row_bytes,
    }


def _columns(
    side: str, layout: Layout, cache: Cache, shape: CacheShape, at: Place
) -> dict[str, Column]:
    """Which element each place of the block holds, -1 for one of the other cache; runs and costs.

    `run` holds the bytes of all loads as [start, stop) pairs from the block's start; load i has
    those before pair `run_end[i]`.
    """
    where = elements(layout, cache, shape)
    index = np.full(block_elements(layout, cache, shape), -1, np.int32)
    index[where.ravel()] = np.arange(where.size)
    costs = [
        cost(layout, cache, shape, at.block, at.head, load)
        for load in range(len(loads(cache, shape).slot))
    ]
    start = at.block * len(index) * shape.element_size
    runs = np.concatenate([c.runs for c in costs]) - start
    columns = {
        "index": index,
        "run": runs.ravel(),
        "run_end": np.cumsum([len(c.runs) for c in costs]),
        "num_bytes": np.array([c.num_bytes for c in costs]),
        "sectors": np.array([c.sectors for c in costs]),
        "thread_reads": np.array([c.thread_reads for c in costs]),
    }
    return {f"{name}{side}": column.astype(np.int32) for name, column in columns.items()}
