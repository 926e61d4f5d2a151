"""What the kernels require of their arguments: a ValueError that names the one that is wrong."""

from collections.abc import Sequence

import torch

DTYPES = (torch.float16, torch.float32, torch.bfloat16)


def require(holds: bool, sentence: str) -> None:
    """Raise ValueError with this sentence unless the condition holds."""
    if not holds:
        raise ValueError(sentence)


def check_tensor(
    name: str,
    tensor: torch.Tensor,
    shape: Sequence[int | str],
    like: torch.Tensor,
    dtype: torch.dtype | None = None,
) -> None:
    """Require a shape (a name in it is any number), like's device, and a dtype (like's if None).

    The last dimension must be contiguous: the kernels step through it without a stride.
    """
    dtype = dtype or like.dtype
    fits = len(tensor.shape) == len(shape) and all(
        isinstance(want, str) or want == got for want, got in zip(shape, tensor.shape, strict=True)
    )
    wanted = ", ".join(str(size) for size in shape)
    require(fits, f"{name} is {list(tensor.shape)}, it must be [{wanted}]")
    require(tensor.dtype == dtype, f"{name} is {tensor.dtype}, it must be {dtype}")
    require(tensor.device == like.device, f"{name} is on {tensor.device}, not on {like.device}")
    require(
        tensor.stride(-1) == 1 or tensor.shape[-1] == 1,
        f"{name} has stride {tensor.stride(-1)} in its last dimension, it must be contiguous there",
    )


def check_cache(name: str, cache: torch.Tensor, like: torch.Tensor) -> None:
    """Require a KV cache [num_blocks, block_size, num_kv_heads, head_size] of like's dtype."""
    require(
        like.dtype in DTYPES,
        f"{name} cannot hold {like.dtype}: float16, float32 and bfloat16 are supported",
    )
    check_tensor(name, cache, ("num_blocks", "block_size", "num_kv_heads", "head_size"), like)
    require(
        cache.shape[1] > 0 and cache.shape[2] > 0,
        f"{name} is {list(cache.shape)}: block_size and num_kv_heads must be at least 1",
    )
