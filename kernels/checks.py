"""What the kernels require of their arguments: a ValueError that names the one that is wrong."""

from collections.abc import Sequence

import torch

DTYPES = (torch.float16, torch.float32, torch.bfloat16)
FLOAT8 = {torch.float8_e4m3fn: "e4m3", torch.float8_e5m2: "e5m2"}  # what a cache may hold besides


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
    """Require a KV cache [num_blocks, block_size, num_kv_heads, head_size].

    Of like's dtype, or float8. `like` holds tokens as the model computes them: float8 is no dtype
    for these.
    """
    require(
        like.dtype in DTYPES,
        f"{name} cannot serve {like.dtype}: float16, float32 and bfloat16 are supported",
    )
    dtype = cache.dtype if cache.dtype in FLOAT8 else like.dtype
    shape = ("num_blocks", "block_size", "num_kv_heads", "head_size")
    check_tensor(name, cache, shape, like, dtype)
    require(
        cache.shape[1] > 0 and cache.shape[2] > 0,
        f"{name} is {list(cache.shape)}: block_size and num_kv_heads must be at least 1",
    )


def check_pairs(name: str, cache: torch.Tensor) -> None:
    """Require that a float8 cache can be read two numbers at a time: everything even."""
    numbers = (*cache.stride()[:3], cache.shape[3], cache.storage_offset())
    require(
        all(number % 2 == 0 for number in numbers),
        f"{name} has strides {cache.stride()}, head_size {cache.shape[3]} and offset "
        f"{cache.storage_offset()}: in float8 each must be even",
    )
