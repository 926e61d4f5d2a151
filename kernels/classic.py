"""PagedAttention as vLLM's first CUDA kernels do it, in Triton: one program per query head.

v1 gives a whole sequence to a program. v2 cuts it into partitions of 512 tokens, gives each to a
program of its own, and a second kernel merges them: more programs for few long sequences. Caches
have the layout of `kernels/cache_layout.py`. With one query there is no matrix to multiply: scores
and outputs are products and sums in float32, and query heads that share a KV head each read it
anew. `kernels/decode.py` is the kernel that does better on both counts.

Contracts: vLLM 0.x's `paged_attention_v1` and `paged_attention_v2`. Unlike theirs, a sequence of
length 0 gives zeros in v2 too, and the normaliser is exp_sum itself, not exp_sum + 1e-6: exp_sum is
at least 1, as the largest score adds exp(0).
"""

import torch
import triton
import triton.language as tl

from kernels.cache_layout import (
    check_cache_dtype,
    check_scale,
    check_split_caches,
    split_kv_cache,
)
from kernels.checks import check_tensor, require

__all__ = [
    "PARTITION_SIZE",
    "max_num_partitions",
    "paged_attention_v1",
    "paged_attention_v2",
    "split_kv_cache",
    "uses_v1",
]

PARTITION_SIZE = 512  # tokens that a program of v2 attends to
TILE_SIZE = 32  # tokens per step: two blocks of 16; with 64 the registers run out
REDUCE_SIZE = 16  # partitions per step of the merge


@triton.jit
def _slots(  # type: ignore[no-untyped-def]
    table_ptr, token, in_seq, stride_block, STRIDE_SLOT: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    """Where each token's slot begins in a cache, int64. Entries past the sequence are not read."""
    block = tl.load(table_ptr + token // BLOCK_SIZE, mask=in_seq, other=0).to(tl.int64)
    return block * stride_block + token % BLOCK_SIZE * STRIDE_SLOT


@triton.jit
def _scores(q, key_ptrs, in_head, slot, in_seq):  # type: ignore[no-untyped-def]
    """q · k of each token, −inf past the sequence. q and key_ptrs are (CHUNKS, 1, X)."""
    mask = in_head & in_seq[None, :, None]
    k = tl.load(key_ptrs + slot[None, :, None], mask=mask, other=0.0).to(tl.float32)
    return tl.where(in_seq, tl.sum(tl.sum(q * k, 2), 0), float("-inf"))


@triton.jit
def _values(value_ptrs, in_head, slot, in_seq):  # type: ignore[no-untyped-def]
    """Each token's values, (BLOCK_D, TILE_SIZE). Zeros past the sequence, as 0 · NaN is NaN.

    Loaded flat, slots innermost: of two dimensions the compiler may give either to neighbouring
    lanes.
    """
    ptrs = value_ptrs + slot[None, :]
    mask = tl.ravel(in_head & in_seq[None, :])
    v = tl.load(tl.ravel(ptrs), mask=mask, other=0.0)
    return tl.reshape(v, ptrs.shape).to(tl.float32)


@triton.jit
def _fold(m, l, acc, s, weight, v):  # type: ignore[no-untyped-def]
    """The online softmax: fold in scores (N,), how much each counts, and values (BLOCK_D, N).

    l (N,) and acc (BLOCK_D, N) are summed over N at the end. A sum of products in each step would
    differ between lanes in its last bit, as the compiler fuses a lane's own product into the sum.
    """
    m_new = tl.maximum(m, tl.max(s, 0))
    alpha = tl.exp(m - m_new)
    p = tl.exp(s - m_new) * weight
    return m_new, l * alpha + p, acc * alpha + p[None, :] * v


@triton.jit
def _attend(  # type: ignore[no-untyped-def]
    out_ptr,  # v1 [num_seqs, num_heads, head_size]; v2 tmp_out, with partitions before head_size
    exp_sums_ptr,  # v2 [num_seqs, num_heads, max_num_partitions] float32
    max_logits_ptr,  # the same
    logits_ptr,  # two-pass [num_seqs, num_heads, max_seq_len] float32
    query_ptr,  # [num_seqs, num_heads, head_size]
    key_cache_ptr,  # [num_blocks, num_kv_heads, head_size // x, block_size, x]
    value_cache_ptr,  # [num_blocks, num_kv_heads, head_size, block_size]
    block_tables_ptr,  # [num_seqs, max_num_blocks] int32
    seq_lens_ptr,  # [num_seqs] int32
    alibi_slopes_ptr,  # [num_heads] float32, or None
    scale,  # of the scores, k_scale included
    v_scale,
    num_heads,
    group_size,  # query heads per KV head
    max_seq_len,
    out_stride_seq,
    out_stride_head,
    query_stride_seq,
    query_stride_head,
    key_stride_block,
    key_stride_head,
    value_stride_block,
    value_stride_head,
    table_stride_seq,
    HEAD_SIZE: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,  # token slots per KV block
    X: tl.constexpr,  # elements of a key chunk
    CHUNKS: tl.constexpr,  # HEAD_SIZE // X, padded
    BLOCK_D: tl.constexpr,  # HEAD_SIZE, padded
    TILE_SIZE: tl.constexpr,
    PARTITION_SIZE: tl.constexpr,  # 0 in v1
    TWO_PASS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    seq = row // num_heads
    head = row % num_heads
    kv_head = head // group_size
    partition = tl.program_id(1)
    seq_len = tl.load(seq_lens_ptr + seq)
    start = partition * PARTITION_SIZE
    end = seq_len
    if PARTITION_SIZE > 0:
        if start >= seq_len:
            return
        end = tl.minimum(start + PARTITION_SIZE, seq_len)

    chunk = tl.arange(0, CHUNKS)[:, None, None]
    offs_x = tl.arange(0, X)[None, None, :]
    offs_d = tl.arange(0, BLOCK_D)
    in_key = chunk < HEAD_SIZE // X
    in_value = (offs_d < HEAD_SIZE)[:, None]

    query_ptr += seq * query_stride_seq + head * query_stride_head
    q = tl.load(query_ptr + chunk * X + offs_x, mask=in_key, other=0.0).to(tl.float32) * scale
    slope = 0.0
    if alibi_slopes_ptr is not None:
        slope = tl.load(alibi_slopes_ptr + head)
    table_ptr = block_tables_ptr + seq * table_stride_seq
    key_ptrs = key_cache_ptr + kv_head * key_stride_head + chunk * (BLOCK_SIZE * X) + offs_x
    value_ptrs = value_cache_ptr + kv_head * value_stride_head + offs_d[:, None] * BLOCK_SIZE

    tile = tl.arange(0, TILE_SIZE)
    m = tl.full((), float("-inf"), tl.float32)  # largest score
    l = tl.zeros((TILE_SIZE,), tl.float32)  # its sum is the exp_sum: Σ exp(s − m)
    acc = tl.zeros((BLOCK_D, TILE_SIZE), tl.float32)  # its row sum is Σ exp(s − m) · v
    if TWO_PASS:  # as in the CUDA kernel: keep all scores, one max, one sum, then the values
        logits_ptr += row * max_seq_len
        for first in range(start, end, TILE_SIZE):
            token = first + tile
            in_seq = token < end
            slot = _slots(table_ptr, token, in_seq, key_stride_block, X, BLOCK_SIZE)
            s = _scores(q, key_ptrs, in_key, slot, in_seq) + slope * (token - seq_len + 1)
            tl.store(logits_ptr + token, s, mask=in_seq)
            m = tl.maximum(m, tl.max(s, 0))
        tl.debug_barrier()  # one thread stores a score, another loads it
        for first in range(start, end, TILE_SIZE):
            token = first + tile
            s = tl.load(logits_ptr + token, mask=token < end, other=float("-inf"))
            l += tl.exp(s - m)
        for first in range(start, end, TILE_SIZE):
            token = first + tile
            in_seq = token < end
            s = tl.load(logits_ptr + token, mask=in_seq, other=float("-inf"))
            slot = _slots(table_ptr, token, in_seq, value_stride_block, 1, BLOCK_SIZE)
            v = _values(value_ptrs, in_value, slot, in_seq)
            acc += tl.exp(s - m)[None, :] * v
    else:
        for first in range(start, end, TILE_SIZE):
            token = first + tile
            in_seq = token < end
            slot = _slots(table_ptr, token, in_seq, value_stride_block, 1, BLOCK_SIZE)
            v = _values(value_ptrs, in_value, slot, in_seq)  # before K: both are under way at once
            slot = _slots(table_ptr, token, in_seq, key_stride_block, X, BLOCK_SIZE)
            s = _scores(q, key_ptrs, in_key, slot, in_seq) + slope * (token - seq_len + 1)
            m, l, acc = _fold(m, l, acc, s, 1.0, v)

    l = tl.sum(l, 0)
    out = tl.sum(acc, 1) / tl.where(l > 0.0, l, 1.0) * v_scale  # an empty sequence gives zeros
    out_ptr += seq * out_stride_seq + head * out_stride_head + partition * HEAD_SIZE
    tl.store(out_ptr + offs_d, out.to(out_ptr.dtype.element_ty), mask=offs_d < HEAD_SIZE)
    if PARTITION_SIZE > 0:
        part = row * tl.num_programs(1) + partition
        tl.store(exp_sums_ptr + part, l)
        tl.store(max_logits_ptr + part, m)


@triton.jit
def _reduce(  # type: ignore[no-untyped-def]
    out_ptr,  # [num_seqs, num_heads, head_size]
    exp_sums_ptr,  # [num_seqs, num_heads, max_num_partitions] float32
    max_logits_ptr,  # the same
    tmp_out_ptr,  # [num_seqs, num_heads, max_num_partitions, head_size]
    seq_lens_ptr,  # [num_seqs] int32
    num_heads,
    max_num_partitions,
    out_stride_seq,
    out_stride_head,
    HEAD_SIZE: tl.constexpr,
    BLOCK_D: tl.constexpr,
    PARTITION_SIZE: tl.constexpr,
    REDUCE_SIZE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    seq = row // num_heads
    num_partitions = tl.cdiv(tl.load(seq_lens_ptr + seq), PARTITION_SIZE)
    offs_d = tl.arange(0, BLOCK_D)

    m = tl.full((), float("-inf"), tl.float32)
    l = tl.zeros((REDUCE_SIZE,), tl.float32)
    acc = tl.zeros((BLOCK_D, REDUCE_SIZE), tl.float32)
    for first in range(0, num_partitions, REDUCE_SIZE):
        partition = first + tl.arange(0, REDUCE_SIZE)
        mask = partition < num_partitions
        part = row * max_num_partitions + partition
        s = tl.load(max_logits_ptr + part, mask=mask, other=float("-inf"))
        exp_sum = tl.load(exp_sums_ptr + part, mask=mask, other=0.0)
        offs = part[None, :] * HEAD_SIZE + offs_d[:, None]
        mask = mask[None, :] & (offs_d < HEAD_SIZE)[:, None]
        v = tl.load(tmp_out_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        m, l, acc = _fold(m, l, acc, s, exp_sum, v)

    l = tl.sum(l, 0)
    out = tl.sum(acc, 1) / tl.where(l > 0.0, l, 1.0)
    out_ptr += seq * out_stride_seq + row % num_heads * out_stride_head
    tl.store(out_ptr + offs_d, out.to(out_ptr.dtype.element_ty), mask=offs_d < HEAD_SIZE)


def max_num_partitions(max_seq_len: int) -> int:
    """Partitions of the longest sequence."""
    return -(-max_seq_len // PARTITION_SIZE)


def uses_v1(num_seqs: int, num_heads: int, max_seq_len: int) -> bool:
    """Whether vLLM took v1: one partition is all there is, or programs enough without splitting."""
    enough = max_num_partitions(max_seq_len) == 1 or num_seqs * num_heads > 512
    return max_seq_len <= 8192 and enough


def paged_attention_v1(
    query: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    scale: float,
    *,
    max_seq_len: int | None = None,
    alibi_slopes: torch.Tensor | None = None,
    k_scale: float = 1.0,
    v_scale: float = 1.0,
    two_pass: bool = False,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Attend from one query token per sequence, each query head in one program.

    query        [num_seqs, num_heads, head_size]: float16, float32 or bfloat16
    key_cache    [num_blocks, num_kv_heads, head_size // x, block_size, x]: query's dtype or fp8
    value_cache  [num_blocks, num_kv_heads, head_size, block_size]: the same
    block_tables [num_seqs, max_num_blocks] int32; entries past a sequence's end are never read
    seq_lens     [num_seqs] int32; 0 gives zeros
    max_seq_len  no sequence may be longer; what the tables can hold if not given
    alibi_slopes [num_heads] float32: adds slope · (position − seq_len + 1) to a score
    k_scale      what a stored key stands for is itself times this; v_scale likewise; fp8 only
    two_pass     keep all scores in memory, take their max, then their sum, as the CUDA kernel does;
                 else the online softmax, tile by tile
    out          like query; made if not given

    Query head h reads KV head h // (num_heads // num_kv_heads). Ids and lengths are trusted: they
    are on the device, and checking them would wait for it. Raises ValueError naming the argument.
    """
    out = torch.empty_like(query) if out is None else out
    _check(query, key_cache, value_cache, block_tables, seq_lens, alibi_slopes, out)
    _launch(
        query,
        key_cache,
        value_cache,
        block_tables,
        seq_lens,
        scale,
        alibi_slopes,
        k_scale,
        v_scale,
        _longest(max_seq_len, block_tables, key_cache),
        two_pass,
        out,
    )
    return out


def paged_attention_v2(
    query: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    scale: float,
    *,
    max_seq_len: int | None = None,
    alibi_slopes: torch.Tensor | None = None,
    k_scale: float = 1.0,
    v_scale: float = 1.0,
    two_pass: bool = False,
    exp_sums: torch.Tensor | None = None,
    max_logits: torch.Tensor | None = None,
    tmp_out: torch.Tensor | None = None,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Attend as `paged_attention_v1` does, each partition of 512 tokens in a program of its own.

    exp_sums, max_logits [num_seqs, num_heads, max_num_partitions(max_seq_len)] float32: Σ exp(s −
                         max) and max of each partition's scores
    tmp_out              [num_seqs, num_heads, max_num_partitions, head_size] like query: its output

    These three are contiguous, and made if not given. Partitions at or past a sequence's end are
    left as they are, and not read when the others are merged.
    """
    out = torch.empty_like(query) if out is None else out
    _check(query, key_cache, value_cache, block_tables, seq_lens, alibi_slopes, out)
    num_seqs, num_heads, head_size = query.shape
    max_seq_len = _longest(max_seq_len, block_tables, key_cache)
    num_partitions = max_num_partitions(max_seq_len)
    shape = (num_seqs, num_heads, num_partitions)
    exp_sums = _workspace("exp_sums", exp_sums, shape, query, torch.float32)
    max_logits = _workspace("max_logits", max_logits, shape, query, torch.float32)
    tmp_out = _workspace("tmp_out", tmp_out, (*shape, head_size), query, query.dtype)
    _launch(
        query,
        key_cache,
        value_cache,
        block_tables,
        seq_lens,
        scale,
        alibi_slopes,
        k_scale,
        v_scale,
        max_seq_len,
        two_pass,
        tmp_out,
        exp_sums,
        max_logits,
    )
    if query.numel():
        _reduce[(num_seqs * num_heads,)](
            out,
            exp_sums,
            max_logits,
            tmp_out,
            seq_lens,
            num_heads,
            num_partitions,
            *out.stride()[:2],
            HEAD_SIZE=head_size,
            BLOCK_D=triton.next_power_of_2(head_size),
            PARTITION_SIZE=PARTITION_SIZE,
            REDUCE_SIZE=REDUCE_SIZE,
        )
    return out


def _launch(
    query: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    scale: float,
    alibi_slopes: torch.Tensor | None,
    k_scale: float,
    v_scale: float,
    max_seq_len: int,
    two_pass: bool,
    target: torch.Tensor,
    exp_sums: torch.Tensor | None = None,
    max_logits: torch.Tensor | None = None,
) -> None:
    """Run one program per query head, and per partition where there are exp_sums."""
    check_scale("k_scale", k_scale, key_cache)
    check_scale("v_scale", v_scale, value_cache)
    num_seqs, num_heads, head_size = query.shape
    num_kv_heads, num_chunks, block_size, x = key_cache.shape[1:]
    partitions = 1 if exp_sums is None else exp_sums.shape[2]
    if not query.numel() or not partitions:
        return
    logits = None
    if two_pass:
        logits = torch.empty(num_seqs, num_heads, max_seq_len, device=query.device)
    block_d = triton.next_power_of_2(head_size)
    _attend[(num_seqs * num_heads, partitions)](
        target,
        exp_sums,
        max_logits,
        logits,
        query,
        key_cache,
        value_cache,
        block_tables,
        seq_lens,
        alibi_slopes,
        scale * k_scale,
        v_scale,
        num_heads,
        num_heads // num_kv_heads,
        max_seq_len,
        *target.stride()[:2],
        *query.stride()[:2],
        *key_cache.stride()[:2],
        *value_cache.stride()[:2],
        block_tables.stride(0),
        HEAD_SIZE=head_size,
        BLOCK_SIZE=block_size,
        X=x,
        CHUNKS=triton.next_power_of_2(num_chunks),
        BLOCK_D=block_d,
        TILE_SIZE=TILE_SIZE,
        PARTITION_SIZE=0 if exp_sums is None else PARTITION_SIZE,
        TWO_PASS=two_pass,
        num_warps=4 if block_d <= 128 else 8,
    )


def _longest(max_seq_len: int | None, block_tables: torch.Tensor, key_cache: torch.Tensor) -> int:
    return block_tables.shape[1] * key_cache.shape[3] if max_seq_len is None else max_seq_len


def _workspace(
    name: str,
    given: torch.Tensor | None,
    shape: tuple[int, ...],
    like: torch.Tensor,
    dtype: torch.dtype,
) -> torch.Tensor:
    if given is None:
        return torch.empty(shape, dtype=dtype, device=like.device)
    check_tensor(name, given, shape, like, dtype)
    require(given.is_contiguous(), f"{name} must be contiguous")
    return given


def _check(
    query: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    alibi_slopes: torch.Tensor | None,
    out: torch.Tensor,
) -> None:
    check_tensor("query", query, ("num_seqs", "num_heads", "head_size"), query)
    check_cache_dtype(key_cache, "query", query)
    check_split_caches(key_cache, value_cache)
    num_seqs, num_heads, head_size = query.shape
    num_kv_heads = key_cache.shape[1]
    require(
        value_cache.shape[2] == head_size,
        f"key_cache has head_size {value_cache.shape[2]}, query has {head_size}",
    )
    require(
        num_heads % num_kv_heads == 0,
        f"query has {num_heads} heads, not a multiple of key_cache's {num_kv_heads} KV heads",
    )
    require(
        key_cache.device == query.device,
        f"key_cache is on {key_cache.device}, not on {query.device}",
    )
    check_tensor("block_tables", block_tables, (num_seqs, "max_num_blocks"), query, torch.int32)
    check_tensor("seq_lens", seq_lens, (num_seqs,), query, torch.int32)
    check_tensor("out", out, tuple(query.shape), query)
    if alibi_slopes is not None:
        check_tensor("alibi_slopes", alibi_slopes, (num_heads,), query, torch.float32)
