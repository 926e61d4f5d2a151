"""Paged decode attention in Triton: one query token per sequence, keys and values found through a
block table.

A program serves one sequence and one KV head, with all query heads that share it. It walks the
sequence in tiles of TILE_SIZE tokens, whatever the block size: each token of a tile looks up its
own block, so a tile may span several blocks or part of one. `kernels/reference.py` is the
specification.
"""

import math

import torch
import triton
import triton.language as tl

from kernels.bounds import TILE_SIZE
from kernels.checks import check_cache, check_tensor, require

MIN_DOT = 16  # the tensor cores' smallest tile side: smaller sides are padded and masked


@triton.jit
def _decode(  # type: ignore[no-untyped-def]
    out_ptr,  # [num_seqs, num_heads, head_size]
    query_ptr,  # [num_seqs, num_heads, head_size]
    key_cache_ptr,  # [num_blocks, block_size, num_kv_heads, head_size]
    value_cache_ptr,  # [num_blocks, block_size, num_kv_heads, head_size]
    block_tables_ptr,  # [num_seqs, max_num_blocks] int32
    seq_lens_ptr,  # [num_seqs] int32
    scale_log2,  # scale · log2(e): the softmax is taken in powers of two
    num_kv_heads,
    out_stride_seq,
    out_stride_head,
    query_stride_seq,
    query_stride_head,
    key_stride_block,
    key_stride_slot,
    key_stride_head,
    value_stride_block,
    value_stride_slot,
    value_stride_head,
    table_stride_seq,
    GROUP_SIZE: tl.constexpr,  # query heads per KV head
    HEAD_SIZE: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,  # token slots per KV block
    BLOCK_M: tl.constexpr,  # GROUP_SIZE, padded
    BLOCK_D: tl.constexpr,  # HEAD_SIZE, padded
    TILE_SIZE: tl.constexpr,  # tokens per step of the loop
):
    seq = (tl.program_id(0) // num_kv_heads).to(tl.int64)
    kv_head = tl.program_id(0) % num_kv_heads
    seq_len = tl.load(seq_lens_ptr + seq)

    row = tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, BLOCK_D)
    offs_n = tl.arange(0, TILE_SIZE)
    head = kv_head * GROUP_SIZE + row
    in_head = offs_d < HEAD_SIZE
    in_query = (row < GROUP_SIZE)[:, None] & in_head[None, :]

    offs_q = seq * query_stride_seq + head[:, None] * query_stride_head + offs_d[None, :]
    q = tl.load(query_ptr + offs_q, mask=in_query, other=0.0)  # (BLOCK_M, BLOCK_D)

    m = tl.full((BLOCK_M,), float("-inf"), tl.float32)  # running max, in powers of two
    l = tl.zeros((BLOCK_M,), tl.float32)  # normaliser
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)  # Σ 2^(s − m) · v

    for start in range(0, seq_len, TILE_SIZE):
        token = start + offs_n
        in_seq = token < seq_len
        # Table entries past the end are padding: never read. int64 before the multiply: a pool of
        # more than 2^31 elements would wrap.
        entry = block_tables_ptr + seq * table_stride_seq + token // BLOCK_SIZE
        block = tl.load(entry, mask=in_seq, other=0).to(tl.int64)  # (TILE_SIZE,)
        slot = token % BLOCK_SIZE
        in_tile = in_seq[:, None] & in_head[None, :]

        offs_k = block * key_stride_block + slot * key_stride_slot + kv_head * key_stride_head
        k = tl.load(key_cache_ptr + offs_k[:, None] + offs_d[None, :], mask=in_tile, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale_log2  # (BLOCK_M, TILE_SIZE)
        s = tl.where(in_seq[None, :], s, float("-inf"))

        m_new = tl.maximum(m, tl.max(s, 1))
        alpha = tl.exp2(m - m_new)
        p = tl.exp2(s - m_new[:, None])
        l = l * alpha + tl.sum(p, 1)
        m = m_new

        # V is masked too: the weight of a slot past the end is 0, and 0 · NaN is NaN.
        offs_v = block * value_stride_block + slot * value_stride_slot + kv_head * value_stride_head
        v = tl.load(value_cache_ptr + offs_v[:, None] + offs_d[None, :], mask=in_tile, other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")

    out = acc / tl.where(l > 0.0, l, 1.0)[:, None]  # an empty sequence gives zeros
    offs_o = seq * out_stride_seq + head[:, None] * out_stride_head + offs_d[None, :]
    tl.store(out_ptr + offs_o, out.to(out_ptr.dtype.element_ty), mask=in_query)


def paged_attention(
    query: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    scale: float,
    *,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Attend from one query token per sequence to the keys and values its block table names.

    query        [num_seqs, num_heads, head_size]
    key_cache    [num_blocks, block_size, num_kv_heads, head_size], and value_cache the same
    block_tables [num_seqs, max_num_blocks] int32; entries past a sequence's end are never read
    seq_lens     [num_seqs] int32; 0 gives zeros
    out          like query; made if not given

    float16, float32 or bfloat16; the last dimension contiguous, the others strided as they come.
    Query head h reads KV head h // (num_heads // num_kv_heads). Ids and lengths are trusted: they
    are on the device, and checking them would wait for it. Raises ValueError naming the argument.
    """
    out = torch.empty_like(query) if out is None else out
    _check(query, key_cache, value_cache, block_tables, seq_lens, out)
    num_seqs, num_heads, head_size = query.shape
    _, block_size, num_kv_heads, _ = key_cache.shape
    group_size = num_heads // num_kv_heads
    if num_seqs:
        _decode[(num_seqs * num_kv_heads,)](
            out,
            query,
            key_cache,
            value_cache,
            block_tables,
            seq_lens,
            scale * math.log2(math.e),
            num_kv_heads,
            *out.stride()[:2],
            *query.stride()[:2],
            *key_cache.stride()[:3],
            *value_cache.stride()[:3],
            block_tables.stride(0),
            GROUP_SIZE=group_size,
            HEAD_SIZE=head_size,
            BLOCK_SIZE=block_size,
            BLOCK_M=max(MIN_DOT, triton.next_power_of_2(group_size)),
            BLOCK_D=max(MIN_DOT, triton.next_power_of_2(head_size)),
            TILE_SIZE=TILE_SIZE,
        )
    return out


def _check(
    query: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    out: torch.Tensor,
) -> None:
    check_tensor("query", query, ("num_seqs", "num_heads", "head_size"), like=query)
    check_cache("key_cache", key_cache, query)
    check_cache("value_cache", value_cache, query)
    num_seqs, num_heads, head_size = query.shape
    for name, cache in (("key_cache", key_cache), ("value_cache", value_cache)):
        require(
            cache.shape[3] == head_size,
            f"{name} has head_size {cache.shape[3]}, query has {head_size}",
        )
    require(
        value_cache.shape == key_cache.shape,
        f"value_cache is {list(value_cache.shape)}, key_cache is {list(key_cache.shape)}",
    )
    require(
        num_heads % key_cache.shape[2] == 0,
        f"query has {num_heads} heads, not a multiple of key_cache's {key_cache.shape[2]} KV heads",
    )
    ints = torch.int32
    check_tensor("block_tables", block_tables, (num_seqs, "max_num_blocks"), query, ints)
    check_tensor("seq_lens", seq_lens, (num_seqs,), query, ints)
    check_tensor("out", out, tuple(query.shape), query)
