"""What a decode kernel did, written down by the kernel itself: its flight recorder.

With a Flight, each program of `kernels.decode.paged_attention` stores whom it served, where and
when it ran, and for each of its tiles the blocks it read, the byte address of its first key row,
and the running softmax after it. The same kernel does so interpreted and compiled; without a Flight
the stores are not compiled.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import triton

from kernels.config import padded
from kernels.plan import Plan

PROGRAM_NUMBERS = 8
LN_2 = math.log(2.0)


@dataclass(frozen=True, slots=True)
class Tile:
    """One step of a program's loop.

    `m`, the running maximum of the scores, and `l`, the running normaliser (base e), have a number
    for each query head of the group; `blocks` has each token's block id, as far as there are any.
    Under a window the first tile may begin before it: then its first row is not read.
    """

    first_token: int
    key_address: int
    blocks: tuple[int, ...]
    m: tuple[float, ...]
    l: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """One program: its share of a sequence, its SM and times (GPU only, else 0), its tiles."""

    sequence: int
    kv_head: int
    split: int
    num_splits: int
    sm: int
    start_ns: int
    end_ns: int
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Flight:
    """Room for the record of one call, on the device; owned by the caller, filled by the kernel."""

    group_size: int
    programs: torch.Tensor  # [num_programs, PROGRAM_NUMBERS] int64; num_splits 0: did nothing
    tiles: torch.Tensor  # [num_programs, max_tiles, 2] int64: first token, key address
    blocks: torch.Tensor  # [num_programs, max_tiles, tile_size] int32, -1 past the end
    states: torch.Tensor  # [num_programs, max_tiles, 2, rows] float32: m (log2), l

    @property
    def tensors(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """In the order of the kernel's arguments."""
        return self.programs, self.tiles, self.blocks, self.states

    @property
    def max_tiles(self) -> int:
        """Tiles that a program has room for."""
        return self.tiles.shape[1]

    def read(self) -> tuple[Program, ...]:
        """The programs that had something to do, in grid order; waits for the device."""
        return tuple(self._read())

    def _read(self) -> Iterator[Program]:
        programs, tiles, blocks, states = (tensor.cpu() for tensor in self.tensors)
        for number, row in enumerate(programs.tolist()):
            seq, kv_head, split, num_splits, num_tiles, sm, start, end = row
            if num_splits:
                walked = tuple(
                    self._tile(tiles[number, i], blocks[number, i], states[number, i])
                    for i in range(num_tiles)
                )
                yield Program(seq, kv_head, split, num_splits, sm, start, end, walked)

    def _tile(self, tile: torch.Tensor, blocks: torch.Tensor, state: torch.Tensor) -> Tile:
        first_token, address = tile.tolist()
        m, l = state[:, : self.group_size].double()
        read = tuple(block for block in blocks.tolist() if block >= 0)
        return Tile(first_token, address, read, tuple((m * LN_2).tolist()), tuple(l.tolist()))


def make_flight(
    query: torch.Tensor, key_cache: torch.Tensor, plan: Plan, max_seq_len: int
) -> Flight:
    """Room for one call with this plan, whose sequences are no longer than `max_seq_len`."""
    num_programs = plan.num_items * key_cache.shape[2]
    group_size = query.shape[1] // key_cache.shape[2]
    tile_size = plan.config.tile_size
    max_tiles = max(1, triton.cdiv(max_seq_len, tile_size))
    device = query.device
    return Flight(
        group_size,
        torch.zeros(num_programs, PROGRAM_NUMBERS, dtype=torch.int64, device=device),
        torch.zeros(num_programs, max_tiles, 2, dtype=torch.int64, device=device),
        torch.full((num_programs, max_tiles, tile_size), -1, dtype=torch.int32, device=device),
        torch.zeros(
            num_programs, max_tiles, 2, padded(group_size), dtype=torch.float32, device=device
        ),
    )
