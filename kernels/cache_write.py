"""Writing new keys and values into the paged cache, in Triton: token i goes to slot_mapping[i]."""

import torch
import triton
import triton.language as tl

from kernels.bounds import TILE_SIZE
from kernels.checks import check_cache, check_tensor, require


@triton.jit
def _write(  # type: ignore[no-untyped-def]
    key_ptr,  # [num_tokens, num_kv_heads, head_size]
    value_ptr,  # [num_tokens, num_kv_heads, head_size]
    key_cache_ptr,  # [num_blocks, block_size, num_kv_heads, head_size]
    value_cache_ptr,  # [num_blocks, block_size, num_kv_heads, head_size]
    slot_mapping_ptr,  # [num_tokens] int64
    num_tokens,
    num_kv_heads,
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
    TILE_SIZE: tl.constexpr,  # tokens per program
):
    head = tl.program_id(0) % num_kv_heads
    token = (tl.program_id(0) // num_kv_heads).to(tl.int64) * TILE_SIZE + tl.arange(0, TILE_SIZE)
    offs_d = tl.arange(0, BLOCK_D)

    slot = tl.load(slot_mapping_ptr + token, mask=token < num_tokens, other=-1)  # int64
    mask = (slot >= 0)[:, None] & (offs_d < HEAD_SIZE)[None, :]  # a negative slot is skipped
    slot = tl.where(slot >= 0, slot, 0)  # Triton's // and % round towards zero
    block = slot // BLOCK_SIZE
    place = slot % BLOCK_SIZE

    offs = token * key_stride_token + head * key_stride_head
    k = tl.load(key_ptr + offs[:, None] + offs_d[None, :], mask=mask)
    offs = block * key_stride_block + place * key_stride_slot + head * key_stride_kv_head
    tl.store(key_cache_ptr + offs[:, None] + offs_d[None, :], k, mask=mask)

    offs = token * value_stride_token + head * value_stride_head
    v = tl.load(value_ptr + offs[:, None] + offs_d[None, :], mask=mask)
    offs = block * value_stride_block + place * value_stride_slot + head * value_stride_kv_head
    tl.store(value_cache_ptr + offs[:, None] + offs_d[None, :], v, mask=mask)


def reshape_and_cache_flash(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
) -> None:
    """Scatter tokens into the caches, in place; a slot below 0 is skipped.

    key, value   [at least num_tokens, num_kv_heads, head_size]
    caches       [num_blocks, block_size, num_kv_heads, head_size]
    slot_mapping [num_tokens] int64: block_id · block_size + offset; it says how many tokens there
                 are. Two tokens with one slot are written in no defined order.

    The last dimension must be contiguous; the others may be strided. Raises ValueError naming the
    argument.
    """
    check_cache("key_cache", key_cache, key_cache)
    _, block_size, num_kv_heads, head_size = key_cache.shape
    check_tensor("value_cache", value_cache, tuple(key_cache.shape), key_cache)
    check_tensor("key", key, ("num_tokens", num_kv_heads, head_size), key_cache)
    check_tensor("value", value, tuple(key.shape), key_cache)
    check_tensor("slot_mapping", slot_mapping, ("num_tokens",), key_cache, torch.int64)
    num_tokens = slot_mapping.shape[0]
    require(
        num_tokens <= key.shape[0],
        f"slot_mapping has {num_tokens} entries, key has only {key.shape[0]} tokens",
    )
    if num_tokens:
        _write[(triton.cdiv(num_tokens, TILE_SIZE) * num_kv_heads,)](
            key,
            value,
            key_cache,
            value_cache,
            slot_mapping,
            num_tokens,
            num_kv_heads,
            *key.stride()[:2],
            *value.stride()[:2],
            *key_cache.stride()[:3],
            *value_cache.stride()[:3],
            HEAD_SIZE=head_size,
            BLOCK_SIZE=block_size,
            BLOCK_D=triton.next_power_of_2(head_size),
            TILE_SIZE=TILE_SIZE,
        )
