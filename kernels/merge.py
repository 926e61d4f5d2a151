"""Putting the partial results of a split sequence together, in Triton.

A split leaves its output, not yet divided by its normaliser l, and its running maximum m (in powers
of two). The sum of all splits weighs each by 2^(m − the largest m).
"""

import math

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_wait

from kernels.plan import tile_span

LN_2 = tl.constexpr(math.log(2.0))


@triton.jit
def merge_splits(  # type: ignore[no-untyped-def]
    out_ptr,  # [num_seqs, num_heads, head_size]
    lse_ptr,  # [num_seqs, num_heads] float32, or None
    partial_out_ptr,  # [num_items, num_heads, head_size] float32
    partial_state_ptr,  # [num_items, num_heads, 2] float32
    seq,
    first_head,
    first_item,
    num_splits,
    num_heads,
    out_stride_seq,
    out_stride_head,
    NUM_ROWS: tl.constexpr,  # query heads, from `first_head` on
    HEAD_SIZE: tl.constexpr,
):
    """Put the partial results of a sequence together, each weighed by its share of the sum.

    In the order of the splits, so that the result is the same whoever does it. They come from other
    SMs, so they are read past the L1.
    """
    row = tl.arange(0, triton.next_power_of_2(NUM_ROWS))
    offs_d = tl.arange(0, triton.next_power_of_2(HEAD_SIZE))
    in_group = row < NUM_ROWS
    mask = in_group[:, None] & (offs_d < HEAD_SIZE)[None, :]
    place = first_item.to(tl.int64) * num_heads + first_head + row
    m = tl.full(row.shape, float("-inf"), tl.float32)
    l = tl.zeros(row.shape, tl.float32)
    acc = tl.zeros((row.shape[0], offs_d.shape[0]), tl.float32)
    for _ in tl.range(0, num_splits, loop_unroll_factor=4):
        state = partial_state_ptr + place * 2
        m_part = tl.load(state, mask=in_group, other=float("-inf"), cache_modifier=".cg")
        l_part = tl.load(state + 1, mask=in_group, other=0.0, cache_modifier=".cg")
        partial = partial_out_ptr + place[:, None] * HEAD_SIZE + offs_d[None, :]
        out_part = tl.load(partial, mask=mask, other=0.0, cache_modifier=".cg")
        m_new = tl.maximum(m, m_part)
        base = tl.where(m_new > float("-inf"), m_new, 0.0)  # a split may have had no tile
        alpha = tl.exp2(m - base)
        share = tl.exp2(m_part - base)
        l = l * alpha + l_part * share
        acc = acc * alpha[:, None] + out_part * share[:, None]
        m = m_new
        place += num_heads
    head = first_head + row
    offs_o = seq.to(tl.int64) * out_stride_seq + head.to(tl.int64) * out_stride_head
    result = acc / tl.where(l > 0.0, l, 1.0)[:, None]
    out = out_ptr + offs_o[:, None] + offs_d[None, :]
    tl.store(out, result.to(out_ptr.dtype.element_ty), mask=mask)
    if lse_ptr is not None:
        tl.store(lse_ptr + seq * num_heads + head, (m + tl.log2(l)) * LN_2, mask=in_group)


@triton.jit
def merge(  # type: ignore[no-untyped-def]
    out_ptr,
    lse_ptr,
    partial_out_ptr,
    partial_state_ptr,
    seq_lens_ptr,  # [num_seqs] int32
    even_splits,
    num_heads,
    out_stride_seq,
    out_stride_head,
    HEAD_SIZE: tl.constexpr,
    TILE_SIZE: tl.constexpr,
    WINDOW: tl.constexpr,
    PDL: tl.constexpr,
):
    """`merge_splits` for one query head of a sequence, when all were cut into `even_splits`."""
    head = tl.program_id(0)
    seq = tl.program_id(1)
    first, end = tile_span(tl.load(seq_lens_ptr + seq), WINDOW, TILE_SIZE)
    num_splits = tl.minimum(tl.maximum(end - first, 1), even_splits)  # the others have no tile
    if PDL:
        gdc_wait()
    merge_splits(
        out_ptr,
        lse_ptr,
        partial_out_ptr,
        partial_state_ptr,
        seq,
        head,
        seq * even_splits,
        num_splits,
        num_heads,
        out_stride_seq,
        out_stride_head,
        1,
        HEAD_SIZE,
    )
