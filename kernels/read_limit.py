"""The pure-read limit: kernels that read as many bytes of K and V as a decode step, in one piece.

No kernel that reads these bytes through a block table can be faster, and none computes less.
"""

from collections.abc import Callable, Iterator

import torch
import triton
import triton.language as tl

from kernels.config import num_sms

# Words of a tile, tiles that are in flight at once, warps, programs on an SM (0: a program for each
# piece). Which is fastest depends on the bytes; the fastest is the limit.
SHAPES = ((2048, 4, 8, 4), (1024, 8, 8, 4), (4096, 2, 16, 2), (1024, 4, 8, 8), (1024, 4, 8, 0))


@triton.jit
def _read(  # type: ignore[no-untyped-def]
    sums_ptr,  # [2, programs] int32: so that no load is left out
    key_ptr,  # [num_words] int32
    value_ptr,  # [num_words] int32
    num_words,
    TILE_SIZE: tl.constexpr,
    TILES: tl.constexpr,
):
    program, programs = tl.program_id(0), tl.num_programs(0)
    words_ptr = key_ptr
    if tl.program_id(1) == 1:
        words_ptr = value_ptr
    piece = program.to(tl.int64) * TILE_SIZE * TILES
    total = tl.zeros((TILE_SIZE,), tl.int32)
    while piece < num_words:
        for tile in tl.static_range(TILES):
            word = piece + tile * TILE_SIZE + tl.arange(0, TILE_SIZE)
            total += tl.load(words_ptr + word, mask=word < num_words, other=0)
        piece += programs.to(tl.int64) * TILE_SIZE * TILES
    tl.store(sums_ptr + tl.program_id(1) * programs + program, tl.sum(total))


def readers(
    num_words: int, device: torch.device
) -> Iterator[Callable[[torch.Tensor, torch.Tensor], torch.Tensor]]:
    """Each reads the first `num_words` int32 of two tensors and returns sums of them, wrapped."""
    for tile_size, tiles, num_warps, per_sm in SHAPES:
        programs = triton.cdiv(num_words, tile_size * tiles)
        if per_sm:
            programs = min(programs, num_sms(device) * per_sm // 2)
        yield _reader(num_words, tile_size, tiles, num_warps, max(1, programs), device)


def _reader(
    num_words: int,
    tile_size: int,
    tiles: int,
    num_warps: int,
    programs: int,
    device: torch.device,
) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    sums = torch.empty(2, programs, dtype=torch.int32, device=device)

    def read(key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        _read[(programs, 2)](
            sums, key, value, num_words, TILE_SIZE=tile_size, TILES=tiles, num_warps=num_warps
        )
        return sums

    return read
