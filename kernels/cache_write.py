"""Writing new keys and values into the paged caches, in Triton: token i goes to slot_mapping[i].

A program takes a tile of tokens of one KV head, from key and value both. `reshape_and_cache_flash`
writes rows; `reshape_and_cache` writes the classic layout of `kernels/cache_layout.py`, where
neighbouring slots lie side by side: the tile is turned on the chip, so that neighbouring threads
read along a row and write along the slots.
"""

from typing import Any

import torch
import triton
import triton.language as tl

from kernels.cache_layout import check_cache_dtype, check_scale, check_split_caches
from kernels.checks import FLOAT8, check_tensor, require

# Tokens of a program; interpreted, a program costs the same however many it takes.
TOKENS = 256 if triton.knobs.runtime.interpret else 32
NUM_WARPS = 4


@triton.jit
def _slots(  # type: ignore[no-untyped-def]
    slot_mapping_ptr, num_tokens, num_kv_heads, TOKENS: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    """This program's tokens and head; each token's block, place there, and if it is written."""
    head = (tl.program_id(0) % num_kv_heads).to(tl.int64)
    token = (tl.program_id(0) // num_kv_heads).to(tl.int64) * TOKENS + tl.arange(0, TOKENS)
    slot = tl.load(slot_mapping_ptr + token, mask=token < num_tokens, other=-1)  # int64
    return token, head, slot // BLOCK_SIZE, slot % BLOCK_SIZE, slot >= 0  # a negative slot: skipped


@triton.jit
def _stored(x, scale, LIMIT: tl.constexpr):  # type: ignore[no-untyped-def]
    """x / scale cut to ±LIMIT for an fp8 cache, NaN staying NaN; x itself for any other."""
    if LIMIT is not None:
        x = tl.div_rn(x.to(tl.float32), scale)
        x = tl.where(x > LIMIT, LIMIT, tl.where(x < -LIMIT, -LIMIT, x))
    return x


@triton.jit
def _write_rows(  # type: ignore[no-untyped-def]
    key_ptr,  # [num_tokens, num_kv_heads, head_size]
    value_ptr,  # the same
    key_cache_ptr,  # [num_blocks, block_size, num_kv_heads, head_size]
    value_cache_ptr,  # the same
    slot_mapping_ptr,  # [num_tokens] int64
    num_tokens,
    num_kv_heads,
    k_scale,
    v_scale,
    key_stride_token,
    key_stride_head,
    value_stride_token,
    value_stride_head,
    key_stride_block,
    key_stride_slot,
    key_stride_kv_head,
    value_stride_block,
    value_stride_slot,
    value_stride_kv_head,
    HEAD_SIZE: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,  # token slots per KV block
    BLOCK_D: tl.constexpr,  # HEAD_SIZE, padded
    LIMIT: tl.constexpr,  # of the cache's dtype if that is fp8
    TOKENS: tl.constexpr,
):
    token, head, block, place, is_written = _slots(
        slot_mapping_ptr, num_tokens, num_kv_heads, TOKENS, BLOCK_SIZE
    )
    offs_d = tl.arange(0, BLOCK_D)[None, :]
    in_head = offs_d < HEAD_SIZE
    is_token = (token < num_tokens)[:, None] & in_head  # rows do not wait for their slots
    mask = is_written[:, None] & in_head

    offs = token * key_stride_token + head * key_stride_head
    k = tl.load(key_ptr + offs[:, None] + offs_d, mask=is_token)
    offs = token * value_stride_token + head * value_stride_head
    v = tl.load(value_ptr + offs[:, None] + offs_d, mask=is_token)

    k = _stored(k, k_scale, LIMIT).to(key_cache_ptr.dtype.element_ty)
    v = _stored(v, v_scale, LIMIT).to(value_cache_ptr.dtype.element_ty)
    offs = block * key_stride_block + place * key_stride_slot + head * key_stride_kv_head
    tl.store(key_cache_ptr + offs[:, None] + offs_d, k, mask=mask)
    offs = block * value_stride_block + place * value_stride_slot + head * value_stride_kv_head
    tl.store(value_cache_ptr + offs[:, None] + offs_d, v, mask=mask)


@triton.jit
def _write_chunks(  # type: ignore[no-untyped-def]
    key_ptr,  # [num_tokens, num_kv_heads, head_size]
    value_ptr,  # the same
    key_cache_ptr,  # [num_blocks, num_kv_heads, head_size // x, block_size, x]
    value_cache_ptr,  # [num_blocks, num_kv_heads, head_size, block_size]
    slot_mapping_ptr,  # [num_tokens] int64
    num_tokens,
    num_kv_heads,
    k_scale,
    v_scale,
    key_stride_token,
    key_stride_head,
    value_stride_token,
    value_stride_head,
    key_stride_block,
    key_stride_kv_head,
    value_stride_block,
    value_stride_kv_head,
    HEAD_SIZE: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    BLOCK_D: tl.constexpr,
    X: tl.constexpr,  # elements of a key chunk
    LIMIT: tl.constexpr,
    TOKENS: tl.constexpr,
):
    token, head, block, place, is_written = _slots(
        slot_mapping_ptr, num_tokens, num_kv_heads, TOKENS, BLOCK_SIZE
    )
    offs_d = tl.arange(0, BLOCK_D)
    is_token = (token < num_tokens)[:, None] & (offs_d < HEAD_SIZE)[None, :]

    offs = token * key_stride_token + head * key_stride_head
    k = tl.load(key_ptr + offs[:, None] + offs_d[None, :], mask=is_token)
    offs = token * value_stride_token + head * value_stride_head
    v = tl.load(value_ptr + offs[:, None] + offs_d[None, :], mask=is_token)

    k = _stored(k, k_scale, LIMIT).to(key_cache_ptr.dtype.element_ty)
    k = tl.permute(tl.reshape(k, (TOKENS, BLOCK_D // X, X)), (1, 0, 2))  # lanes: slots of a chunk
    chunk = tl.arange(0, BLOCK_D // X)[:, None, None]
    offs = (block * key_stride_block + head * key_stride_kv_head + place * X)[None, :, None]
    offs += chunk * (BLOCK_SIZE * X) + tl.arange(0, X)[None, None, :]
    mask = is_written[None, :, None] & (chunk < HEAD_SIZE // X)
    tl.store(key_cache_ptr + offs, k, mask=mask)

    v = tl.trans(_stored(v, v_scale, LIMIT).to(value_cache_ptr.dtype.element_ty))
    offs = (block * value_stride_block + head * value_stride_kv_head + place)[None, :]
    offs += offs_d[:, None] * BLOCK_SIZE
    mask = is_written[None, :] & (offs_d < HEAD_SIZE)[:, None]
    # Flat, slots innermost: of two dimensions the compiler may give either to neighbouring lanes.
    tl.store(value_cache_ptr + tl.ravel(offs), tl.ravel(v), mask=tl.ravel(mask))


def reshape_and_cache_flash(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
    *,
    k_scale: float = 1.0,
    v_scale: float = 1.0,
) -> None:
    """Scatter tokens into the caches, in place; a slot below 0 is skipped.

    key, value   [at least num_tokens, num_kv_heads, head_size]: float16, float32 or bfloat16
    caches       [num_blocks, block_size, num_kv_heads, head_size]: key's dtype, or float8_e4m3fn or
                 float8_e5m2, which hold x / scale, rounded and cut to what they can hold
    slot_mapping [num_tokens] int64: block_id · block_size + offset; it says how many tokens there
                 are. Two tokens with one slot are written in no defined order.

    The last dimension must be contiguous; the others may be strided. Slots are trusted. Raises
    ValueError naming the argument.
    """
    check_cache_dtype(key_cache, "key", key)
    shape = ("num_blocks", "block_size", "num_kv_heads", "head_size")
    check_tensor("key_cache", key_cache, shape, key_cache)
    _, block_size, num_kv_heads, head_size = key_cache.shape
    require(
        block_size * num_kv_heads * head_size > 0,
        f"key_cache is {list(key_cache.shape)}: all but num_blocks must be at least 1",
    )
    check_tensor("value_cache", value_cache, tuple(key_cache.shape), key_cache)
    _launch(
        _write_rows,
        key,
        value,
        key_cache,
        value_cache,
        slot_mapping,
        k_scale,
        v_scale,
        (num_kv_heads, head_size),
        3,
        BLOCK_SIZE=block_size,
    )


def reshape_and_cache(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
    *,
    k_scale: float = 1.0,
    v_scale: float = 1.0,
) -> None:
    """Scatter tokens into caches of the classic layout, as `reshape_and_cache_flash` into its own.

    key_cache   [num_blocks, num_kv_heads, head_size // x, block_size, x], x = 16 // element_size
    value_cache [num_blocks, num_kv_heads, head_size, block_size]

    Blocks and heads of the caches may be strided, the rest is contiguous.
    """
    check_cache_dtype(key_cache, "key", key)
    check_split_caches(key_cache, value_cache)
    _, num_kv_heads, head_size, block_size = value_cache.shape
    _launch(
        _write_chunks,
        key,
        value,
        key_cache,
        value_cache,
        slot_mapping,
        k_scale,
        v_scale,
        (num_kv_heads, head_size),
        2,
        BLOCK_SIZE=block_size,
        X=key_cache.shape[4],
    )


def _launch(
    kernel: Any,
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
    k_scale: float,
    v_scale: float,
    row: tuple[int, int],
    num_strides: int,
    **layout: int,
) -> None:
    """Check what is written, rows of (num_kv_heads, head_size), and run the layout's kernel."""
    check_tensor("key", key, ("num_tokens", *row), key_cache, key.dtype)
    check_tensor("value", value, tuple(key.shape), key)
    check_tensor("slot_mapping", slot_mapping, ("num_tokens",), key, torch.int64)
    check_scale("k_scale", k_scale, key_cache)
    check_scale("v_scale", v_scale, value_cache)
    num_tokens = slot_mapping.shape[0]
    num_kv_heads, head_size = row
    require(
        num_tokens <= key.shape[0],
        f"slot_mapping has {num_tokens} entries, key has only {key.shape[0]} tokens",
    )
    if num_tokens:
        kernel[(triton.cdiv(num_tokens, TOKENS) * num_kv_heads,)](
            key,
            value,
            key_cache,
            value_cache,
            slot_mapping,
            num_tokens,
            num_kv_heads,
            k_scale,
            v_scale,
            *key.stride()[:2],
            *value.stride()[:2],
            *key_cache.stride()[:num_strides],
            *value_cache.stride()[:num_strides],
            HEAD_SIZE=head_size,
            BLOCK_D=triton.next_power_of_2(head_size),
            LIMIT=torch.finfo(key_cache.dtype).max if key_cache.dtype in FLOAT8 else None,
            TOKENS=TOKENS,
            num_warps=NUM_WARPS,
            **layout,
        )
