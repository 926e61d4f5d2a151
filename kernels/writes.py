"""Cache writes to be timed: this project's writers, and a plain copy of the same bytes."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from kernels.cases import Write
from kernels.contenders import Contender, split


@dataclass(frozen=True, slots=True)
class Writes:
    """A case's new tokens and the caches that they go to, in copies used in turn."""

    case: Write
    tokens: list[torch.Tensor]  # [2, num_tokens, num_kv_heads, head_size]: K and V
    caches: list[torch.Tensor]  # [2, num_blocks, block_size, num_kv_heads, head_size]
    slot_mapping: torch.Tensor  # [num_tokens] int64


def make_writes(case: Write, device: torch.device, num_copies: int) -> Writes:
    """Draw the tokens; caches start as NaN, and their blocks are used in an order drawn too."""
    random = torch.Generator(device).manual_seed(0)
    row = (case.model.num_kv_heads, case.model.head_size)
    num_blocks = -(-case.num_tokens // case.block_size) + 1
    dtype = getattr(torch, case.dtype)
    blocks = torch.randperm(num_blocks, generator=random, device=device)
    token = torch.arange(case.num_tokens, device=device)
    shape = (2, num_blocks, case.block_size, *row)
    return Writes(
        case,
        [
            torch.randn(2, case.num_tokens, *row, generator=random, device=device, dtype=dtype)
            for _ in range(num_copies)
        ],
        [torch.full(shape, float("nan"), device=device, dtype=dtype) for _ in range(num_copies)],
        blocks[token // case.block_size] * case.block_size + token % case.block_size,
    )


def _flash(writes: Writes) -> Contender:
    """`reshape_and_cache_flash`."""
    from kernels.cache_write import reshape_and_cache_flash

    caches = [(cache[0], cache[1]) for cache in writes.caches]
    return _writer(writes, reshape_and_cache_flash, caches, lambda cache: cache)


def _classic(writes: Writes) -> Contender:
    """`reshape_and_cache`, into caches in the classic layout."""
    from kernels.cache_write import reshape_and_cache

    caches = [split(*cache) for cache in writes.caches]
    return _writer(writes, reshape_and_cache, caches, lambda cache: split(*cache))


def _writer(
    writes: Writes,
    write: Callable[..., None],
    caches: list[tuple[torch.Tensor, torch.Tensor]],
    layout: Callable[[tuple[torch.Tensor, torch.Tensor]], tuple[torch.Tensor, torch.Tensor]],
) -> Contender:
    def run(copy: int) -> None:
        write(*writes.tokens[copy], *caches[copy], writes.slot_mapping)

    def worst() -> float:
        for cache in caches[0]:
            cache.fill_(float("nan"))  # a copy that was timed before may have left numbers
        run(0)
        pairs = zip(caches[0], layout(_expected(writes)), strict=True)
        return max(_difference(stored, wanted) for stored, wanted in pairs)

    return Contender(run, worst, 0.0)


def _expected(writes: Writes) -> tuple[torch.Tensor, torch.Tensor]:
    """The caches of the first copy as they must become: NaN where nothing was written."""
    expected = torch.full_like(writes.caches[0], float("nan"))
    for cache, tokens in zip(expected, writes.tokens[0], strict=True):
        cache.flatten(0, 1)[writes.slot_mapping] = tokens
    return expected[0], expected[1]


def _difference(stored: torch.Tensor, wanted: torch.Tensor) -> float:
    """The largest, infinite where only one is a number."""
    same = (stored == wanted) | (stored.isnan() & wanted.isnan())
    difference = (stored.double() - wanted.double()).abs().nan_to_num(nan=float("inf"))
    return float(torch.where(same, 0.0, difference).max())


def _copy(writes: Writes) -> Contender:
    """What memory allows: the tokens copied in one piece."""
    size = writes.tokens[0].numel()
    into = [cache.flatten()[:size].view_as(writes.tokens[0]) for cache in writes.caches]
    return Contender(lambda copy: into[copy].copy_(writes.tokens[copy]), None, None)


WRITE: dict[str, Callable[[Writes], Contender]] = {
    "flash": _flash,
    "x-split": _classic,
}


def copy_limit(writes: Writes) -> list[Contender]:
    """The one plain copy that writes are held against."""
    return [_copy(writes)]
