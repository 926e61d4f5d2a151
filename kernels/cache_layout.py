"""The classic cache layout: what vLLM's first kernels write and read.

    key_cache   [num_blocks, num_kv_heads, head_size // x, block_size, x]
    value_cache [num_blocks, num_kv_heads, head_size, block_size]

A key is cut into chunks of x elements, 16 bytes: one load of one thread. The same chunk of
neighbouring slots lies side by side, so neighbouring threads read neighbouring memory. Values are
summed over tokens instead, so there the slots themselves are innermost. Source: `split_kv_cache`
in vLLM's `paged_attn.py`.
"""

import math

import torch

from kernels.checks import DTYPES, FLOAT8, check_tensor, require

CHUNK_BYTES = 16


def split_kv_cache(
    kv_cache: torch.Tensor, num_kv_heads: int, head_size: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The key and value caches in kv_cache [2, num_blocks, block_size · num_kv_heads · head_size].

    Both are views; x is 16 // element_size. Raises ValueError for sizes that do not divide.
    """
    x = CHUNK_BYTES // kv_cache.element_size()
    require(
        kv_cache.ndim == 3 and kv_cache.shape[0] == 2 and kv_cache.stride(2) == 1,
        f"kv_cache is {list(kv_cache.shape)}, it must be [2, num_blocks, block_size · num_kv_heads "
        "· head_size] with a contiguous last dimension",
    )
    require(num_kv_heads > 0, f"num_kv_heads is {num_kv_heads}, it must be at least 1")
    require(
        head_size > 0 and head_size % x == 0,
        f"head_size is {head_size}, for {kv_cache.dtype} it must be a multiple of {x}",
    )
    num_blocks, per_block = kv_cache.shape[1:]
    block_size, rest = divmod(per_block, num_kv_heads * head_size)
    require(
        block_size > 0 and rest == 0,
        f"kv_cache has {per_block} elements a block, not a multiple of {num_kv_heads} KV heads "
        f"times {head_size}",
    )
    return (
        kv_cache[0].view(num_blocks, num_kv_heads, head_size // x, block_size, x),
        kv_cache[1].view(num_blocks, num_kv_heads, head_size, block_size),
    )


def check_split_caches(key_cache: torch.Tensor, value_cache: torch.Tensor) -> None:
    """Require two caches of this layout: any stride between blocks and heads, none within."""
    x = CHUNK_BYTES // key_cache.element_size()
    names = ("num_blocks", "num_kv_heads", "head_size / x", "block_size", x)
    check_tensor("key_cache", key_cache, names, key_cache)
    num_blocks, num_kv_heads, num_chunks, block_size, _ = key_cache.shape
    require(
        num_kv_heads * num_chunks * block_size > 0,
        f"key_cache is {list(key_cache.shape)}: all but num_blocks must be at least 1",
    )
    shape = (num_blocks, num_kv_heads, num_chunks * x, block_size)
    check_tensor("value_cache", value_cache, shape, key_cache)
    for name, cache in (("key_cache", key_cache), ("value_cache", value_cache)):
        require(
            cache[:1, :1].is_contiguous(), f"{name} must be contiguous within a block and a head"
        )


def check_cache_dtype(key_cache: torch.Tensor, name: str, tokens: torch.Tensor) -> None:
    """Require tokens of a dtype the kernels compute in, and a cache of that dtype or in float8."""
    dtype = tokens.dtype
    require(dtype in DTYPES, f"{name} is {dtype}: float16, float32 and bfloat16 are supported")
    require(
        key_cache.dtype in (dtype, *FLOAT8),
        f"key_cache is {key_cache.dtype}, for {name} in {dtype} it must be that or float8",
    )


def check_scale(name: str, scale: float, cache: torch.Tensor) -> None:
    """Require a scale that can be divided by, and 1 for a cache that holds values as they are."""
    require(0 < scale < math.inf, f"{name} is {scale}, it must be above 0 and finite")
    require(
        scale == 1.0 or cache.dtype in FLOAT8, f"{name} is {scale}, it must be 1 for {cache.dtype}"
    )
