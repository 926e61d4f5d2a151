"""The controls of Memory layout: which layouts, which cache, and which element of it."""

from dataclasses import dataclass

import streamlit as st

from pages.figures.layout import Place
from pages.ui.in_link import bound_slider, in_link
from sim.layout import BLOCK_SIZES, Cache, CacheShape, Layout

DTYPES = {"float32": 4, "float16": 2, "bfloat16": 2, "float8": 1}
BYTES = "float32 has 4 bytes, float16 and bfloat16 have 2, float8 has 1."
HEAD_SIZES = (32, 64, 80, 96, 112, 128, 192, 256)
BLOCKS, HEADS = 64, 8
LABELS = [layout.value for layout in Layout]
CACHES: tuple[Cache, ...] = ("K", "V")


@dataclass(frozen=True, slots=True)
class LayoutChoice:
    """What the visitor looks at."""

    sides: tuple[Layout, Layout]
    cache: Cache
    shape: CacheShape
    at: Place


def layout_controls() -> LayoutChoice:
    """The controls, in the sidebar; all of them are bound to the query string."""
    with st.sidebar:
        with in_link("cache", "K or V"):
            cache = st.segmented_control(
                "Cache", CACHES, default="K", required=True, key="cache", bind="query-params"
            )
        sides = (_layout("Left", Layout.NHD), _layout("Right", Layout.X_SPLIT))
        with in_link("dtype", ", ".join(DTYPES)):
            dtype = st.selectbox(
                "Element type", list(DTYPES), 1, key="dtype", bind="query-params", help=BYTES
            )
        shape = CacheShape(
            _choice("Block size", BLOCK_SIZES, 16, "block_size"),
            _slider("KV heads", 1, HEADS, 4, "heads"),
            _choice("Head size", HEAD_SIZES, 128, "head_size"),
            DTYPES[dtype],
        )
        return LayoutChoice(sides, cache, shape, _place(shape))


def _layout(label: str, default: Layout) -> Layout:
    key = label.lower()
    with in_link(key, ", ".join(LABELS)):
        index = LABELS.index(default.value)
        return Layout(st.selectbox(label, LABELS, index, key=key, bind="query-params"))


def _choice(label: str, options: tuple[int, ...], default: int, key: str) -> int:
    with in_link(key, ", ".join(map(str, options))):
        return st.select_slider(label, options, default, key=key, bind="query-params")


def _slider(label: str, low: int, high: int, value: int, key: str) -> int:
    """A slider; where there is nothing to choose, no slider."""
    if high == low:
        return low
    return bound_slider(label, low, high, value, key=key)


def _place(shape: CacheShape) -> Place:
    """The element asked about; a range that became shorter takes its own slider."""
    slots, heads, size = shape.block_size, shape.num_kv_heads, shape.head_size
    return Place(
        _slider("Physical block", 0, BLOCKS - 1, 3, "block"),
        _slider("Token in block", 0, slots - 1, 5, f"slot_of_{slots}"),
        _slider("KV head", 0, heads - 1, 0, f"head_of_{heads}"),
        _slider("Head dimension d", 0, size - 1, 27, f"d_of_{size}"),
    )
