"""Paged decode attention in Triton: one query token per sequence, keys and values found through a
block table.

A program serves one work item (kernels/plan.py) and one KV head, with all query heads that share
it. It walks its tiles of TILE_SIZE tokens, whatever the block size: each token of a tile has its
own table entry. Of a sequence that was split each program leaves a partial result, and the last of
them to finish puts them together, or, without a plan, a second kernel (kernels/merge.py).
`kernels/reference.py` is the specification.

What makes it fast: table entries are loaded two tiles ahead and carried, because Triton pipelines
an indirect load through all its stages only then; the first ones are asked for before the query, so
that one wait covers both; every tile is masked, which costs less than a second copy of the loop;
and the normaliser is summed over a row once, at the end.
"""

import math

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, globaltimer, smid

from kernels.checks import FLOAT8, check_cache, check_pairs, check_tensor, require
from kernels.config import has_pdl, num_sms, padded
from kernels.flight import Flight
from kernels.merge import LN_2, merge, merge_splits
from kernels.plan import NO_WINDOW, Plan, plan_decode, plan_evenly, tile_span

__all__ = ["paged_attention", "plan_decode"]

MAX_GRID = 65_535  # of CUDA, in its second and third dimension
LOG2_E = tl.constexpr(math.log2(math.e))


@triton.jit
def _entries(  # type: ignore[no-untyped-def]
    table_ptr, tile, table_width, BLOCK_SIZE: tl.constexpr, TILE_SIZE: tl.constexpr
):
    """Table entries of a tile: one if it lies in one block, else one for each token.

    Loaded as far as the table is wide; padding is never used, as the loads it would serve are
    masked.
    """
    if BLOCK_SIZE % TILE_SIZE == 0:
        logical = tile * TILE_SIZE // BLOCK_SIZE
    elif TILE_SIZE % BLOCK_SIZE == 0:
        logical = tile * (TILE_SIZE // BLOCK_SIZE) + tl.arange(0, TILE_SIZE) // BLOCK_SIZE
    else:
        logical = (tile * TILE_SIZE + tl.arange(0, TILE_SIZE)) // BLOCK_SIZE
    return tl.load(table_ptr + logical, mask=logical < table_width, other=0)


@triton.jit
def _slots(tile, BLOCK_SIZE: tl.constexpr, TILE_SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
    """Slots within their blocks of a tile's tokens, int64: a stride may be large."""
    offs_n = tl.arange(0, TILE_SIZE)
    if BLOCK_SIZE % TILE_SIZE == 0:
        slots = tile * TILE_SIZE % BLOCK_SIZE + offs_n
    elif TILE_SIZE % BLOCK_SIZE == 0:
        slots = offs_n % BLOCK_SIZE
    else:
        slots = (tile * TILE_SIZE + offs_n) % BLOCK_SIZE
    return slots.to(tl.int64)


@triton.jit
def _halves(x, E5M2: tl.constexpr, INTERPRET: tl.constexpr):  # type: ignore[no-untyped-def]
    """The low and the high bytes of uint16 numbers, float8 each, as float16, exactly.

    In PTX two numbers at a time: e5m2 is the upper half of a float16, e4m3 has an instruction. The
    interpreter moves the bits of an e4m3 number to where a float16 has its own, which makes 2⁻⁸ of
    it, as the exponents have other biases.
    """
    if INTERPRET:
        low, high = (x & 0xFF).to(tl.uint16), (x >> 8).to(tl.uint16)
        if E5M2:
            low = (low << 8).to(tl.float16, bitcast=True)
            high = (high << 8).to(tl.float16, bitcast=True)
        else:
            low = (((low & 0x80) << 8) | ((low & 0x7F) << 7)).to(tl.float16, bitcast=True) * 256.0
            high = (((high & 0x80) << 8) | ((high & 0x7F) << 7)).to(
                tl.float16, bitcast=True
            ) * 256.0
        return low, high
    elif E5M2:
        return tl.inline_asm_elementwise(
            """
            prmt.b32 $0, $2, 0, 0x2404;
            prmt.b32 $1, $2, 0, 0x3414;
            """,
            "=&r,=&r,r",
            [x],
            dtype=(tl.float16, tl.float16),
            is_pure=True,
            pack=2,
        )
    else:
        return tl.inline_asm_elementwise(
            """{
            .reg .b16 a, b;
            .reg .b32 c, d;
            mov.b32 {a, b}, $2;
            cvt.rn.f16x2.e4m3x2 c, a;
            cvt.rn.f16x2.e4m3x2 d, b;
            prmt.b32 $0, c, d, 0x5410;
            prmt.b32 $1, c, d, 0x7632;
            }""",
            "=&r,=&r,r",
            [x],
            dtype=(tl.float16, tl.float16),
            is_pure=True,
            pack=2,
        )


@triton.jit(do_not_specialize=["table_width", "table_stride_seq", "max_tiles"])
def _decode(  # type: ignore[no-untyped-def]
    out_ptr,  # [num_seqs, num_heads, head_size]
    lse_ptr,  # [num_seqs, num_heads] float32, or None
    partial_out_ptr,  # [num_items, num_heads, head_size] float32, or None
    partial_state_ptr,  # [num_items, num_heads, 2] float32, or None
    query_ptr,  # [num_seqs, num_heads, head_size]
    key_cache_ptr,  # [num_blocks, block_size, num_kv_heads, head_size]; float8 in pairs, as uint16
    value_cache_ptr,  # the same
    block_tables_ptr,  # [num_seqs, table_width] int32
    seq_lens_ptr,  # [num_seqs] int32
    items_ptr,  # [num_items, 3] int32, or None: then each sequence has `even_splits`
    counters_ptr,  # [num_seqs, num_kv_heads] int32, zeros: the last merges; or None: `merge` does
    alibi_ptr,  # [num_heads] float32, or None
    k_scale_ptr,  # [1] float32, or None
    v_scale_ptr,  # [1] float32, or None
    programs_ptr,  # kernels/flight.py, if TRACE; else None, as the next three
    tiles_ptr,
    blocks_ptr,
    states_ptr,
    scale,  # of the scores, with what float8 and k_scale ask for
    value_scale,  # of the output
    soft_cap,
    num_kv_heads,
    even_splits,
    table_width,
    max_tiles,
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
    COLUMNS: tl.constexpr,  # of a cache row: HEAD_SIZE, of float8 half as many, in pairs
    BLOCK_SIZE: tl.constexpr,  # token slots per KV block
    BLOCK_M: tl.constexpr,  # GROUP_SIZE, padded
    BLOCK_D: tl.constexpr,  # COLUMNS, padded
    TILE_SIZE: tl.constexpr,  # tokens per step of the loop
    WINDOW: tl.constexpr,  # only the last so many tokens are read; NO_WINDOW: all
    SOFT_CAP: tl.constexpr,
    ONE_LAYOUT: tl.constexpr,  # keys and values have the same strides
    E5M2: tl.constexpr,  # which float8, if it is one
    PDL: tl.constexpr,  # when the merge may be launched: "early", "late", "" at the end of the grid
    INTERPRET: tl.constexpr,
    TRACE: tl.constexpr,
):
    if PDL == "early":
        gdc_launch_dependents()
    kv_head = tl.program_id(0)
    item = tl.program_id(1)
    if items_ptr is None:
        seq = tl.program_id(2)
        split = item
        num_splits = even_splits
        item += seq * even_splits
    else:
        seq = tl.load(items_ptr + item * 3)
        split = tl.load(items_ptr + item * 3 + 1)
        num_splits = tl.load(items_ptr + item * 3 + 2)
        if num_splits == 0:
            return
    program = item.to(tl.int64) * num_kv_heads + kv_head
    if TRACE:
        begin = seq.to(tl.int64) * 0
        sm = begin
        if not INTERPRET:
            begin = globaltimer()
            sm = smid().to(tl.int64)

    seq_len = tl.load(seq_lens_ptr + seq)
    first, end = tile_span(seq_len, WINDOW, TILE_SIZE)
    table_ptr = block_tables_ptr + seq.to(tl.int64) * table_stride_seq
    first += split
    block = _entries(table_ptr, first, table_width, BLOCK_SIZE, TILE_SIZE)
    following = _entries(table_ptr, first + num_splits, table_width, BLOCK_SIZE, TILE_SIZE)
    head_offset = kv_head.to(tl.int64)
    key_ptr = key_cache_ptr + head_offset * key_stride_head
    value_ptr = value_cache_ptr + head_offset * value_stride_head

    row = tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, BLOCK_D)
    offs_n = tl.arange(0, TILE_SIZE)
    head = kv_head * GROUP_SIZE + row
    PAIRED: tl.constexpr = COLUMNS < HEAD_SIZE
    in_group = row < GROUP_SIZE
    in_row = offs_d < COLUMNS
    in_query = in_group[:, None] & in_row[None, :]

    offs_q = seq.to(tl.int64) * query_stride_seq + head.to(tl.int64) * query_stride_head
    row_scale = scale
    if k_scale_ptr is not None:
        row_scale *= tl.load(k_scale_ptr)
    if PAIRED:
        # Even and odd dimensions apart, as the bytes of the cache will be. Query in float16, its
        # largest number as 1, as it may be larger than float16 holds.
        pair = query_ptr + offs_q[:, None] + 2 * offs_d[None, :]
        q = tl.load(pair, mask=in_query, other=0.0).to(tl.float32)
        q_odd = tl.load(pair + 1, mask=in_query, other=0.0).to(tl.float32)
        largest = tl.maximum(tl.max(tl.abs(q), 1), tl.max(tl.abs(q_odd), 1))
        largest = tl.where(largest > 0.0, largest, 1.0)
        q = (q / largest[:, None]).to(tl.float16)
        q_odd = (q_odd / largest[:, None]).to(tl.float16)
        row_scale = (largest * row_scale)[:, None]
    else:
        q = tl.load(query_ptr + offs_q[:, None] + offs_d[None, :], mask=in_query, other=0.0)
        if INTERPRET:
            q = q.to(tl.float32)  # it multiplies the bits of bfloat16
    if alibi_ptr is not None:
        slope = tl.load(alibi_ptr + head, mask=in_group, other=0.0) * LOG2_E

    m = tl.full((BLOCK_M,), float("-inf"), tl.float32)  # running max, in powers of two
    weight = tl.zeros((BLOCK_M, TILE_SIZE), tl.float32)  # its row sum is the normaliser
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)  # Σ 2^(s − m) · v
    if PAIRED:
        acc_odd = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)

    num_tiles = tl.maximum(end - first + num_splits - 1, 0) // num_splits
    for step in range(0, num_tiles):
        tile = first + step * num_splits
        after = _entries(table_ptr, tile + 2 * num_splits, table_width, BLOCK_SIZE, TILE_SIZE)
        token = tile * TILE_SIZE + offs_n
        in_seq = token < seq_len
        if WINDOW < NO_WINDOW:
            in_seq = in_seq & (token >= seq_len - WINDOW)
        slot = _slots(tile, BLOCK_SIZE, TILE_SIZE)
        mask = in_seq[:, None]
        if COLUMNS != BLOCK_D:
            mask = mask & in_row[None, :]
        # int64 before the multiply: a pool of more than 2^31 elements would wrap.
        offs_k = block.to(tl.int64) * key_stride_block + slot * key_stride_slot
        k = tl.load(key_ptr + offs_k[:, None] + offs_d[None, :], mask=mask, other=0)
        offs_v = offs_k
        if not ONE_LAYOUT:
            offs_v = block.to(tl.int64) * value_stride_block + slot * value_stride_slot
        # V is masked too: the weight of a slot past the end is 0, and 0 · NaN is NaN.
        v = tl.load(value_ptr + offs_v[:, None] + offs_d[None, :], mask=mask, other=0)

        if PAIRED:
            k, k_odd = _halves(k, E5M2, INTERPRET)
            s = tl.dot(q, tl.trans(k))
            s = tl.dot(q_odd, tl.trans(k_odd), s) * row_scale
        else:
            if INTERPRET:
                k = k.to(tl.float32)
            s = tl.dot(q, tl.trans(k), input_precision="ieee") * row_scale
        if SOFT_CAP:
            # tanh(x) = 1 − 2 / (1 + e^2x); the scores are in powers of two.
            s = soft_cap - 2.0 * soft_cap / (1.0 + tl.exp2(s * (2.0 / soft_cap) * LOG2_E))
        if alibi_ptr is not None:
            s += slope[:, None] * (token - seq_len + 1)[None, :]
        s = tl.where(in_seq[None, :], s, float("-inf"))

        m_new = tl.maximum(m, tl.max(s, 1))
        alpha = tl.exp2(m - m_new)
        p = tl.exp2(s - m_new[:, None])
        weight = weight * alpha[:, None] + p
        if PAIRED:
            v, v_odd = _halves(v, E5M2, INTERPRET)
            acc_odd = tl.dot(p.to(tl.float16), v_odd, acc_odd * alpha[:, None])
            acc = tl.dot(p.to(tl.float16), v, acc * alpha[:, None])
        else:
            if INTERPRET:
                v = v.to(tl.float32)
            acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None], input_precision="ieee")
        m = m_new
        if TRACE:
            at = program * max_tiles + step
            tl.store(tiles_ptr + at * 2, (tile * TILE_SIZE).to(tl.int64))
            address = key_ptr + tl.max(tl.where(offs_n == 0, offs_k, -1))
            tl.store(tiles_ptr + at * 2 + 1, address.to(tl.int64))
            tl.store(blocks_ptr + at * TILE_SIZE + offs_n, tl.where(in_seq, block, -1))
            tl.store(states_ptr + at * 2 * BLOCK_M + row, m)
            tl.store(states_ptr + (at * 2 + 1) * BLOCK_M + row, tl.sum(weight, 1))
        # Two tiles ahead, and not as a bare rename, for which the pipeliner would give no stages.
        block = tl.maximum(following, 0)
        following = after

    if PDL == "late":
        gdc_launch_dependents()
    l = tl.sum(weight, 1)
    factor = value_scale
    if v_scale_ptr is not None:
        factor *= tl.load(v_scale_ptr)
    STEP: tl.constexpr = HEAD_SIZE // COLUMNS
    if num_splits == 1:
        normaliser = (factor / tl.where(l > 0.0, l, 1.0))[:, None]  # an empty sequence gives zeros
        offs_o = seq.to(tl.int64) * out_stride_seq + head.to(tl.int64) * out_stride_head
        out = out_ptr + offs_o[:, None] + STEP * offs_d[None, :]
        tl.store(out, (acc * normaliser).to(out_ptr.dtype.element_ty), mask=in_query)
        if PAIRED:
            odd = (acc_odd * normaliser).to(out_ptr.dtype.element_ty)
            tl.store(out + 1, odd, mask=in_query)
        if lse_ptr is not None:
            offs_l = (seq * num_kv_heads + kv_head) * GROUP_SIZE + row
            tl.store(lse_ptr + offs_l, (m + tl.log2(l)) * LN_2, mask=in_group)
    elif partial_out_ptr is not None:
        place = program * GROUP_SIZE + row
        partial = partial_out_ptr + place[:, None] * HEAD_SIZE + STEP * offs_d[None, :]
        tl.store(partial, acc * factor, mask=in_query)
        if PAIRED:
            tl.store(partial + 1, acc_odd * factor, mask=in_query)
        tl.store(partial_state_ptr + place * 2, m, mask=in_group)
        tl.store(partial_state_ptr + place * 2 + 1, l, mask=in_group)
        if counters_ptr is not None:
            tl.debug_barrier()  # all warps have stored before one of them says so
            counter = counters_ptr + seq * num_kv_heads + kv_head
            if tl.atomic_add(counter, 1, sem="acq_rel", scope="gpu") == num_splits - 1:
                merge_splits(
                    out_ptr,
                    lse_ptr,
                    partial_out_ptr,
                    partial_state_ptr,
                    seq,
                    kv_head * GROUP_SIZE,
                    item - split,
                    num_splits,
                    num_kv_heads * GROUP_SIZE,
                    out_stride_seq,
                    out_stride_head,
                    GROUP_SIZE,
                    HEAD_SIZE,
                )
                tl.store(counter, 0)
    if TRACE:
        finish = begin
        if not INTERPRET:
            finish = globaltimer()
        record = programs_ptr + program * 8
        tl.store(record, seq.to(tl.int64))
        tl.store(record + 1, kv_head.to(tl.int64))
        tl.store(record + 2, split.to(tl.int64))
        tl.store(record + 3, num_splits.to(tl.int64))
        tl.store(record + 4, num_tiles.to(tl.int64))
        tl.store(record + 5, sm)
        tl.store(record + 6, begin)
        tl.store(record + 7, finish)


def paged_attention(
    query: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    scale: float,
    *,
    k_scale: float | torch.Tensor | None = None,
    v_scale: float | torch.Tensor | None = None,
    out: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    max_seq_len: int | None = None,
    plan: Plan | None = None,
    sliding_window: int | None = None,
    soft_cap: float | None = None,
    alibi_slopes: torch.Tensor | None = None,
    flight: Flight | None = None,
) -> torch.Tensor:
    """Attend from one query token per sequence to the keys and values its block table names.

    query        [num_seqs, num_heads, head_size]: float16, bfloat16 or float32
    key_cache    [num_blocks, block_size, num_kv_heads, head_size], and value_cache the same: the
                 query's dtype, or float8 (e4m3fn, e5m2)
    block_tables [num_seqs, table_width] int32; entries past a sequence's end may hold anything
    seq_lens     [num_seqs] int32; 0 gives zeros
    k_scale      keys are what the cache holds times this number, or tensor of one float32, which a
                 float8 cache needs; v_scale likewise
    out, lse     results: like query, and [num_seqs, num_heads] float32, the logarithm (base e) of
                 the sum of exponentials; `out` is made if not given, `lse` only written if given
    max_seq_len  no sequence is longer; the table's width if not given
    plan         of `plan_decode`, for this step's lengths; without, each sequence is cut alike
    sliding_window  only the last so many tokens are read
    soft_cap     scores become soft_cap · tanh(score / soft_cap)
    alibi_slopes [num_heads] float32: a score has slope · (position − last position) added
    flight       records what the kernel does (kernels/flight.py); it needs the plan it was made for

    The last dimension must be contiguous, the others are strided as they come. Query head h reads
    KV head h // (num_heads // num_kv_heads). The host waits for nothing, and the grid does not
    depend on lengths. Ids and lengths are trusted: they are on the device, and checking them would
    wait for it. Raises ValueError naming the argument.
    """
    out = torch.empty_like(query) if out is None else out
    _check(query, key_cache, value_cache, block_tables, seq_lens, out)
    _check_options(query, k_scale, v_scale, lse, sliding_window, soft_cap, alibi_slopes)
    num_seqs, num_heads, head_size = query.shape
    _, block_size, num_kv_heads, _ = key_cache.shape
    if num_seqs == 0:
        return out
    if plan is None:
        longest = block_tables.shape[1] * block_size
        longest = longest if max_seq_len is None else min(max_seq_len, longest)
        plan = plan_evenly(query, key_cache, longest)
    _check_plan(plan, query, num_kv_heads, flight)
    float8 = FLOAT8.get(key_cache.dtype, "")
    columns = head_size
    if float8:
        key_cache, value_cache = key_cache.view(torch.uint16), value_cache.view(torch.uint16)
        columns //= 2
    pdl = _pdl(plan, plan.num_items * num_kv_heads, query.device)
    window = sliding_window or NO_WINDOW.value
    k_factor, k_scale = _factor(k_scale)
    v_factor, v_scale = _factor(v_scale)
    config = plan.config
    even = plan.items is None
    grid = (num_kv_heads, plan.num_splits, num_seqs) if even else (num_kv_heads, plan.num_items, 1)
    require(
        max(grid) <= MAX_GRID,
        f"query has {num_seqs} sequences: a grid holds {MAX_GRID} at most, and a plan takes some",
    )
    _decode[grid](
        out,
        lse,
        plan.partial_out,
        plan.partial_state,
        query,
        key_cache,
        value_cache,
        block_tables,
        seq_lens,
        plan.items,
        plan.counters,
        alibi_slopes,
        k_scale,
        v_scale,
        *(flight.tensors if flight else (None, None, None, None)),
        scale * LOG2_E.value * k_factor,
        v_factor,
        (soft_cap or 0.0) * LOG2_E.value,
        num_kv_heads,
        plan.num_splits,
        block_tables.shape[1],
        flight.max_tiles if flight else 0,
        *out.stride()[:2],
        *query.stride()[:2],
        *key_cache.stride()[:3],
        *value_cache.stride()[:3],
        block_tables.stride(0),
        GROUP_SIZE=num_heads // num_kv_heads,
        HEAD_SIZE=head_size,
        COLUMNS=columns,
        BLOCK_SIZE=block_size,
        BLOCK_M=padded(num_heads // num_kv_heads),
        BLOCK_D=padded(columns),
        TILE_SIZE=config.tile_size,
        WINDOW=window,
        SOFT_CAP=soft_cap is not None,
        ONE_LAYOUT=key_cache.stride() == value_cache.stride(),
        E5M2=float8 == "e5m2",
        PDL=pdl,
        INTERPRET=query.device.type == "cpu",
        TRACE=flight is not None,
        num_warps=config.num_warps,
        num_stages=config.num_stages,
    )
    if plan.counters is None and plan.num_splits > 1:
        merge[(num_heads, num_seqs)](
            out,
            lse,
            plan.partial_out,
            plan.partial_state,
            seq_lens,
            plan.num_splits,
            num_heads,
            *out.stride()[:2],
            HEAD_SIZE=head_size,
            TILE_SIZE=config.tile_size,
            WINDOW=window,
            PDL=pdl != "",
            **({"launch_pdl": True} if pdl else {}),
        )
    return out


def _pdl(plan: Plan, num_programs: int, device: torch.device) -> str:
    """When the merge may be launched. Early costs nothing if every SM is busy to the end; else the
    merge would crowd onto those that are not.
    """
    if plan.counters is not None or plan.num_splits == 1 or not has_pdl(device):
        return ""
    return "early" if num_programs >= num_sms(device) else "late"


def _factor(scale: float | torch.Tensor | None) -> tuple[float, torch.Tensor | None]:
    """A scale as a number for the host to multiply with, or as a tensor for the kernel to read."""
    if isinstance(scale, torch.Tensor):
        return 1.0, scale
    return 1.0 if scale is None else scale, None


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
        if cache.dtype in FLOAT8:
            check_pairs(name, cache)
    require(
        value_cache.shape == key_cache.shape,
        f"value_cache is {list(value_cache.shape)}, key_cache is {list(key_cache.shape)}",
    )
    require(
        value_cache.dtype == key_cache.dtype,
        f"value_cache is {value_cache.dtype}, key_cache is {key_cache.dtype}",
    )
    require(
        num_heads % key_cache.shape[2] == 0,
        f"query has {num_heads} heads, not a multiple of key_cache's {key_cache.shape[2]} KV heads",
    )
    ints = torch.int32
    check_tensor("block_tables", block_tables, (num_seqs, "max_num_blocks"), query, ints)
    check_tensor("seq_lens", seq_lens, (num_seqs,), query, ints)
    check_tensor("out", out, tuple(query.shape), query)


def _check_plan(plan: Plan, query: torch.Tensor, num_kv_heads: int, flight: Flight | None) -> None:
    """A plan of other shapes would make the kernel write past its tensors."""
    num_seqs, *row = query.shape
    partial = plan.partial_out
    fits = partial is None or list(partial.shape) == [plan.num_items, *row]
    if plan.items is None:
        fits = fits and plan.num_items == num_seqs * plan.num_splits
    else:
        fits = fits and plan.counters is not None and len(plan.counters) == num_seqs * num_kv_heads
    require(fits, f"plan is of another shape than the query's {list(query.shape)}")
    if flight is not None:
        shape = [plan.num_items * num_kv_heads, flight.max_tiles, plan.config.tile_size]
        require(
            list(flight.blocks.shape) == shape,
            f"flight has room for {list(flight.blocks.shape)}, the plan needs {shape}",
        )


def _check_options(
    query: torch.Tensor,
    k_scale: float | torch.Tensor | None,
    v_scale: float | torch.Tensor | None,
    lse: torch.Tensor | None,
    sliding_window: int | None,
    soft_cap: float | None,
    alibi_slopes: torch.Tensor | None,
) -> None:
    for name, scale in (("k_scale", k_scale), ("v_scale", v_scale)):
        if isinstance(scale, torch.Tensor):
            check_tensor(name, scale, (1,), query, torch.float32)
    num_seqs, num_heads, _ = query.shape
    if lse is not None:
        check_tensor("lse", lse, (num_seqs, num_heads), query, torch.float32)
        require(lse.is_contiguous(), "lse must be contiguous")
    if alibi_slopes is not None:
        check_tensor("alibi_slopes", alibi_slopes, (num_heads,), query, torch.float32)
    require(
        sliding_window is None or sliding_window > 0,
        f"sliding_window is {sliding_window}, it must be at least 1",
    )
    require(soft_cap is None or soft_cap > 0.0, f"soft_cap is {soft_cap}, it must be above 0")
