"""How the decode kernel is shaped: tile, warps, stages, and how many programs a GPU runs at once.

The table was measured on an H200 (kernels/results); nothing is tuned at run time, so a CUDA graph
captures the same kernel that was timed.
"""

from dataclasses import dataclass
from functools import cache

import torch
import triton

MIN_DOT = 16  # the tensor cores' smallest tile side: smaller sides are padded and masked
INTERPRETED_SMS = 4  # stands for a GPU where there is none: splits happen, and stay few
INTERPRETED_TILE = 64


@dataclass(frozen=True, slots=True)
class Config:
    """Tokens in a tile, warps of a program, stages of its loads, programs that share an SM."""

    tile_size: int
    num_warps: int
    num_stages: int
    programs_per_sm: int


def padded(size: int) -> int:
    """The tile side that holds so many rows or columns."""
    return max(MIN_DOT, int(triton.next_power_of_2(size)))


@cache
def num_sms(device: torch.device) -> int:
    """Multiprocessors of a device."""
    if device.type != "cuda":
        return INTERPRETED_SMS
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


@cache
def has_pdl(device: torch.device) -> bool:
    """Whether a kernel may be launched before the one it follows has ended (Hopper and later)."""
    return device.type == "cuda" and torch.cuda.get_device_capability(device) >= (9, 0)


def choose(key_cache: torch.Tensor, num_seqs: int, max_seq_len: int | None = None) -> Config:
    """The config for so many sequences, none longer than `max_seq_len` if the host knows."""
    _, _, num_kv_heads, head_size = key_cache.shape
    size, sms = key_cache.element_size(), num_sms(key_cache.device)
    num_units = num_seqs * num_kv_heads
    if key_cache.device.type != "cuda":
        return Config(INTERPRETED_TILE, 1, 1, 1)
    if size == 4 or head_size > 128:
        return Config(16, 4, 3, 2)
    if size == 1:
        return Config(128, 8, 3, 1) if num_seqs == 1 else Config(128, 4, 3, 2)
    if num_units > sms:
        return Config(64, 4, 4, 2)
    short = max_seq_len is not None and max_seq_len * num_units <= 512 * sms
    return Config(64 if short else 128, 4, 3, 1)
