"""Addresses against torch's own views of real tensors; the loads of a warp by hand."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kernels.cache_layout import split_kv_cache
from sim.layout import (
    BLOCK_SIZES,
    CacheShape,
    Layout,
    arithmetic,
    block_elements,
    cost,
    element,
    elements,
    loads,
)

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
BLOCKS = 3
SHAPE = CacheShape(16, 4, 128, 2)  # of the figures that were worked out by hand


def views(layout, shape, dtype):
    """K and V as [block, slot, head, d], views of tensors laid out as vLLM does."""
    sizes = (BLOCKS, shape.block_size, shape.num_kv_heads, shape.head_size)
    blocks, slots, heads, d = sizes
    if layout is Layout.NHD:
        return torch.empty(sizes, dtype=dtype), torch.empty(sizes, dtype=dtype)
    if layout is Layout.HND:
        kv = torch.empty((2, blocks, heads, slots, d), dtype=dtype).transpose(2, 3)
        return kv[0], kv[1]
    if layout is Layout.PACKED:
        kv = torch.empty((blocks, slots, heads, 2 * d), dtype=dtype)
        return kv[..., :d], kv[..., d:]
    kv = torch.empty((2, blocks, slots * heads * d), dtype=dtype)
    key, value = split_kv_cache(kv, heads, d)
    return key.permute(0, 3, 1, 2, 4), value.permute(0, 3, 1, 2)


def offset(view, cache, layout, block, slot, head, d):
    """Bytes from the start of the cache to an element, as torch has it."""
    if layout is Layout.X_SPLIT and cache == "K":
        x = view.shape[-1]
        one = view[block, slot, head, d // x, d % x]
    else:
        one = view[block, slot, head, d]
    start = view.data_ptr()
    if layout is Layout.PACKED and cache == "V":
        start -= view.shape[-1] * view.element_size()
    return one.data_ptr() - start


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", Layout, ids=lambda layout: layout.value)
@given(data=st.data())
def test_an_address_is_where_torch_has_it(layout, dtype, data):
    chunk = 16 // dtype.itemsize
    shape = CacheShape(
        data.draw(st.sampled_from((1, 8, 16, 32))),
        data.draw(st.integers(1, 4)),
        chunk * data.draw(st.integers(1, 6)),
        dtype.itemsize,
    )
    at = [
        data.draw(st.integers(0, size - 1))
        for size in (BLOCKS, shape.block_size, shape.num_kv_heads, shape.head_size)
    ]
    for cache, view in zip("KV", views(layout, shape, dtype), strict=True):
        number = element(layout, cache, shape, *at)
        assert number * dtype.itemsize == offset(view, cache, layout, *at)
        assert eval(arithmetic(layout, cache, shape, *at).replace("×", "*")) == number
        block, *inner = at
        within = int(elements(layout, cache, shape)[tuple(inner)])
        assert block * block_elements(layout, cache, shape) + within == number


@pytest.mark.parametrize("layout", Layout, ids=lambda layout: layout.value)
def test_no_two_elements_share_a_place(layout):
    keys, values = (elements(layout, cache, SHAPE).ravel() for cache in "KV")
    room = block_elements(layout, "K", SHAPE)
    used = np.concatenate([keys, values]) if layout is Layout.PACKED else keys
    assert sorted(used) == list(range(room))
    assert len(set(values)) == 16 * 4 * 128


def test_the_mapping_in_words():
    at = (3, 5, 0, 27)
    assert arithmetic(Layout.NHD, "K", SHAPE, *at) == "((3×16 + 5)×4 + 0)×128 + 27"
    assert arithmetic(Layout.PACKED, "V", SHAPE, *at) == "(((3×16 + 5)×4 + 0)×2 + 1)×128 + 27"
    words = arithmetic(Layout.X_SPLIT, "K", SHAPE, *at)
    assert words == "(((3×4 + 0)×16 + 3)×16 + 5)×8 + 3"
    assert element(Layout.NHD, "K", SHAPE, *at) * 2 == 54_326
    assert element(Layout.X_SPLIT, "K", SHAPE, *at) * 2 == 50_006


# --- what a warp loads ----------------------------------------------------------------------------


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
@pytest.mark.parametrize("element_size", [1, 2, 4])
@pytest.mark.parametrize("head_size", [32, 80, 128])
@pytest.mark.parametrize("cache", ["K", "V"])
def test_the_loads_read_every_element_of_a_head_once(cache, head_size, element_size, block_size):
    asked = loads(cache, CacheShape(block_size, 2, head_size, element_size))
    there = asked.d >= 0
    pairs = sorted(zip(asked.slot[there].tolist(), asked.d[there].tolist(), strict=True))
    assert pairs == [(slot, d) for slot in range(block_size) for d in range(head_size)]


def test_two_threads_share_a_key_in_blocks_of_16():
    """float16: 4 elements a thread, 8 a token; thread 11 is the second one of token 5."""
    asked = loads("K", SHAPE)
    assert asked.d.shape == (16, 32, 4)
    assert asked.slot[3, 10].tolist() == asked.slot[3, 11].tolist() == [5, 5, 5, 5]
    assert asked.d[3, 10].tolist() == [24, 25, 26, 27]
    assert asked.d[3, 11].tolist() == [28, 29, 30, 31]


def test_a_thread_has_eight_tokens_of_one_value_row():
    asked = loads("V", SHAPE)
    assert asked.d.shape == (8, 32, 8)
    assert asked.slot[1, 23].tolist() == list(range(8, 16))
    assert asked.d[1, 23].tolist() == [27] * 8


def test_rows_past_the_head_are_nobodys():
    """Head size 80, blocks of 8 in float16: 32 rows at a time, so the third load has 16."""
    asked = loads("V", CacheShape(8, 1, 80, 2))
    assert asked.d.shape == (3, 32, 8)
    assert (asked.d[2, 16:] == -1).all()
    assert (asked.slot[2, 16:] == -1).all()
    assert cost(Layout.X_SPLIT, "V", CacheShape(8, 1, 80, 2), 0, 0, 2).num_bytes == 16 * 16


def test_a_load_of_keys_by_hand():
    """16 tokens, 16 bytes each: 1,024 bytes apart in NHD, side by side in the x-split."""
    spread = cost(Layout.NHD, "K", SHAPE, 3, 0, 3)
    assert spread.runs[:2].tolist() == [[49_200, 49_216], [50_224, 50_240]]
    assert (len(spread.runs), spread.sectors, spread.used_share) == (16, 16, 0.5)
    together = cost(Layout.X_SPLIT, "K", SHAPE, 3, 0, 3)
    assert together.runs.tolist() == [[49_920, 50_176]]
    assert (together.sectors, together.used_share, together.thread_reads) == (8, 1.0, 1)


def test_values_have_no_x():
    """Along the tokens a thread reads 16 bytes at once; where d is innermost it reads 8 times 2."""
    split = cost(Layout.X_SPLIT, "V", SHAPE, 0, 0, 0)
    assert (len(split.runs), split.sectors, split.thread_reads) == (1, 16, 1)
    spread = cost(Layout.NHD, "V", SHAPE, 0, 0, 0)
    assert (len(spread.runs), spread.sectors, spread.thread_reads) == (16, 16, 8)


def test_keys_of_one_byte_come_in_half_chunks():
    """Computed with in 16 bits, a thread still takes 4 elements: 8 of the chunk's 16 bytes."""
    load = cost(Layout.X_SPLIT, "K", CacheShape(16, 4, 128, 1), 0, 0, 0)
    assert (len(load.runs), load.num_bytes, load.sectors) == (16, 128, 8)
