"""Who computes what in a decode step: the work of all sequences, cut so that a GPU is kept busy.

An item is (sequence, split, num_splits): tiles split, split + num_splits, … of the sequence, for
every KV head. The items of a sequence follow each other. A plan depends on the lengths alone, so
one serves all layers of a step; it is made on the device, and its sizes do not depend on the
lengths, so that a CUDA graph may hold it.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from kernels.config import Config, choose, num_sms

NO_WINDOW = tl.constexpr(2**31 - 1)
ITEM = 3  # numbers: sequence, split, num_splits (0: nothing to do)
ROWS = 32  # sequences that a program of the planner places
COLUMNS = 128  # sequences that it compares them with at a time


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Work items for `kernels.decode.paged_attention`, and room for their partial results.

    Without `items`, item i is split i % num_splits of sequence i // num_splits. The plan owns its
    tensors; calls that share a plan must follow each other on one stream.
    """

    config: Config
    num_items: int
    num_splits: int  # of each sequence, if there are no `items`
    items: torch.Tensor | None  # [num_items, ITEM] int32, longest first
    counters: torch.Tensor | None  # [num_seqs · num_kv_heads] int32: splits done; 0 between calls
    partial_out: torch.Tensor | None  # [num_items, num_heads, head_size] float32
    partial_state: torch.Tensor | None  # [num_items, num_heads, 2] float32: max (log2), normaliser


@triton.jit
def tile_span(seq_len, WINDOW: tl.constexpr, TILE_SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
    """First tile of a sequence that is read, and the end; a window reads the last tokens only."""
    return tl.maximum(seq_len - WINDOW, 0) // TILE_SIZE, (seq_len + TILE_SIZE - 1) // TILE_SIZE


@triton.jit
def _num_tiles(  # type: ignore[no-untyped-def]
    seq_lens_ptr, seqs, num_seqs, WINDOW: tl.constexpr, TILE_SIZE: tl.constexpr
):
    seq_len = tl.load(seq_lens_ptr + seqs, mask=seqs < num_seqs, other=0)
    first, end = tile_span(seq_len, WINDOW, TILE_SIZE)
    return end - first


@triton.jit
def _splits(tiles, chunk):  # type: ignore[no-untyped-def]
    """How many items a sequence gets; an empty one gets one too, which writes its zeros."""
    return tl.maximum((tiles + chunk - 1) // chunk, 1)


@triton.jit
def _num_items(  # type: ignore[no-untyped-def]
    seq_lens_ptr,
    num_seqs,
    chunk,
    WINDOW: tl.constexpr,
    TILE_SIZE: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    items = 0
    for start in range(0, num_seqs, COLUMNS):
        seqs = start + tl.arange(0, COLUMNS)
        tiles = _num_tiles(seq_lens_ptr, seqs, num_seqs, WINDOW, TILE_SIZE)
        items += tl.sum(tl.where(seqs < num_seqs, _splits(tiles, chunk), 0))
    return items


@triton.jit
def _chunk(  # type: ignore[no-untyped-def]
    seq_lens_ptr,
    num_seqs,
    slots,  # items that run at once
    WINDOW: tl.constexpr,
    TILE_SIZE: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Tiles of an item.

    If a wave has room, the smallest chunk whose items are one wave; else total / slots, or whole
    sequences where all are alike.
    """
    total, longest, shortest = 0, 1, 1 << 30
    for start in range(0, num_seqs, COLUMNS):
        seqs = start + tl.arange(0, COLUMNS)
        tiles = _num_tiles(seq_lens_ptr, seqs, num_seqs, WINDOW, TILE_SIZE)
        total += tl.sum(tiles)
        longest = tl.maximum(longest, tl.max(tiles))
        shortest = tl.minimum(shortest, tl.min(tl.where(seqs < num_seqs, tiles, 1 << 30)))
    alike = longest * 7 <= shortest * 8
    chunk = tl.maximum((total + slots - 1) // slots, 1)
    if alike & (num_seqs > slots):
        chunk = longest
    if (2 * num_seqs <= slots) | (alike & (num_seqs <= slots)):
        high = longest
        while chunk < high:
            middle = (chunk + high) // 2
            items = _num_items(seq_lens_ptr, num_seqs, middle, WINDOW, TILE_SIZE, COLUMNS)
            if items <= slots:
                high = middle
            else:
                chunk = middle + 1
    return chunk


@triton.jit(do_not_specialize=["num_seqs", "slots"])
def _plan(  # type: ignore[no-untyped-def]
    items_ptr,  # [num_items, 3] int32, zeros
    seq_lens_ptr,  # [num_seqs] int32
    num_seqs,
    slots,
    WINDOW: tl.constexpr,
    TILE_SIZE: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Place the items of ROWS sequences: behind those of all sequences whose items are longer."""
    chunk = _chunk(seq_lens_ptr, num_seqs, slots, WINDOW, TILE_SIZE, COLUMNS)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    tiles = _num_tiles(seq_lens_ptr, row, num_seqs, WINDOW, TILE_SIZE)
    splits = tl.where(row < num_seqs, _splits(tiles, chunk), 0)
    span = (tiles + splits - 1) // tl.maximum(splits, 1)

    place = tl.zeros((ROWS,), tl.int32)
    for start in range(0, num_seqs, COLUMNS):
        other = start + tl.arange(0, COLUMNS)
        other_tiles = _num_tiles(seq_lens_ptr, other, num_seqs, WINDOW, TILE_SIZE)
        other_splits = tl.where(other < num_seqs, _splits(other_tiles, chunk), 0)
        other_span = (other_tiles + other_splits - 1) // tl.maximum(other_splits, 1)
        earlier = other[None, :] < row[:, None]
        longer = other_span[None, :] > span[:, None]
        before = longer | ((other_span[None, :] == span[:, None]) & earlier)
        place += tl.sum(tl.where(before, other_splits[None, :], 0), 1)

    for split in range(0, tl.max(splits)):
        item = items_ptr + (place + split) * 3
        tl.store(item, row, mask=split < splits)
        tl.store(item + 1, split, mask=split < splits)
        tl.store(item + 2, splits, mask=split < splits)


def plan_decode(
    query: torch.Tensor,
    key_cache: torch.Tensor,
    seq_lens: torch.Tensor,
    *,
    sliding_window: int | None = None,
    config: Config | None = None,
) -> Plan | None:
    """The plan of one step, from its lengths on the device; the host waits for nothing.

    Arguments as in `paged_attention`, whose calls with this plan must have the same shapes,
    lengths and window. None for one sequence: there is nothing to balance.
    """
    num_seqs, num_kv_heads = query.shape[0], key_cache.shape[2]
    if num_seqs <= 1:
        return None
    config = config or choose(key_cache, num_seqs)
    slots = max(1, num_sms(query.device) * config.programs_per_sm // num_kv_heads)
    num_items = slots if 2 * num_seqs <= slots else slots + num_seqs
    size = num_items * ITEM
    zeros = torch.zeros(size + num_seqs * num_kv_heads, dtype=torch.int32, device=query.device)
    items, counters = zeros[:size].view(-1, ITEM), zeros[size:]
    _plan[(triton.cdiv(num_seqs, ROWS),)](
        items,
        seq_lens,
        num_seqs,
        slots,
        WINDOW=sliding_window or NO_WINDOW.value,
        TILE_SIZE=config.tile_size,
        ROWS=ROWS,
        COLUMNS=COLUMNS,
    )
    return Plan(config, num_items, 0, items, counters, *_partial(query, num_items))


def plan_evenly(
    query: torch.Tensor,
    key_cache: torch.Tensor,
    max_seq_len: int | None,
    config: Config | None = None,
) -> Plan:
    """A plan that knows no lengths: every sequence has as many splits, for one wave of programs."""
    num_seqs = query.shape[0]
    config = config or choose(key_cache, num_seqs, max_seq_len)
    slots = num_sms(query.device) * config.programs_per_sm
    num_splits = max(1, slots // max(1, num_seqs * key_cache.shape[2]))
    if max_seq_len is not None:
        num_splits = min(num_splits, max(1, triton.cdiv(max_seq_len, config.tile_size)))
    num_items = num_seqs * num_splits
    partial = _partial(query, num_items) if num_splits > 1 else (None, None)
    return Plan(config, num_items, num_splits, None, None, *partial)


def _partial(query: torch.Tensor, num_items: int) -> tuple[torch.Tensor, torch.Tensor]:
    _, num_heads, head_size = query.shape
    device, dtype = query.device, torch.float32
    out = torch.empty(num_items, num_heads, head_size, dtype=dtype, device=device)
    return out, torch.empty(num_items, num_heads, 2, dtype=dtype, device=device)
