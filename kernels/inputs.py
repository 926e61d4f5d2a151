"""The tensors of a job: tokens from a seed, and a paged cache that the writer kernel filled.

Every slot of the pool starts as NaN: a read of anything that was not written shows in the output.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from kernels.job import Job

NO_BLOCK = -1  # pads the block tables; never read


@dataclass(frozen=True, slots=True)
class Inputs:
    """A job's arguments on the device, and the tokens they were written from."""

    query: torch.Tensor  # [num_seqs, num_heads, head_size]
    key: torch.Tensor  # [num_written, num_kv_heads, head_size]: one row per slot in use
    value: torch.Tensor  # the same
    token_rows: tuple[torch.Tensor, ...]  # per sequence: token → row of key and value, int64
    key_cache: torch.Tensor  # [num_blocks, block_size, num_kv_heads, head_size]
    value_cache: torch.Tensor  # the same
    block_tables: torch.Tensor  # [num_seqs, max_num_blocks] int32
    seq_lens: torch.Tensor  # [num_seqs] int32
    scale: float


def make_inputs(job: Job, write: Callable[..., None], device: torch.device) -> Inputs:
    """Draw the tokens, poison the pool, and write each slot in use once.

    Rows are drawn in the order in which the sequences reach their slots, so the contents do not
    depend on the ids in the tables.
    """
    slot_mapping, token_rows = _slots(job)
    query, key, value = (tensor.to(device) for tensor in _contents(job, len(slot_mapping)))
    shape = (job.num_blocks, job.block_size, job.num_kv_heads, job.head_size)
    key_cache = torch.full(shape, float("nan"), dtype=key.dtype, device=device)
    value_cache = key_cache.clone()
    write(key, value, key_cache, value_cache, torch.from_numpy(slot_mapping).to(device))
    return Inputs(
        query,
        key,
        value,
        tuple(torch.from_numpy(rows).to(device) for rows in token_rows),
        key_cache,
        value_cache,
        pad_tables(job.block_tables).to(device),
        torch.tensor(job.seq_lens, dtype=torch.int32, device=device),
        job.head_size**-0.5,
    )


def pad_tables(block_tables: tuple[tuple[int, ...], ...]) -> torch.Tensor:
    """The tables as one int32 tensor, padded with an id that no pool has."""
    width = max(1, *(len(table) for table in block_tables), 1)
    padded = [[*table, *[NO_BLOCK] * (width - len(table))] for table in block_tables]
    return torch.tensor(padded, dtype=torch.int32)


def _slots(job: Job) -> tuple[np.ndarray, list[np.ndarray]]:
    """The slots in use, each once in order of first use, and each sequence's indices into them."""
    per_seq = []
    for table, seq_len in zip(job.block_tables, job.seq_lens, strict=True):
        token = np.arange(seq_len)
        block = np.asarray(table, dtype=np.int64)[token // job.block_size]
        per_seq.append(block * job.block_size + token % job.block_size)
    every = np.concatenate(per_seq)
    _, first, inverse = np.unique(every, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return every[first[order]], np.split(rank[inverse], np.cumsum(job.seq_lens)[:-1])


def _contents(job: Job, num_rows: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Query, keys and values in the job's dtype, on the CPU so that every device gets the same."""
    dtype = getattr(torch, job.dtype)
    if job.given:
        given = (job.given.query, job.given.key, job.given.value)
        query, key, value = (torch.tensor(rows, dtype=torch.float64) for rows in given)
        return query.to(dtype)[None, None], key.to(dtype)[:, None], value.to(dtype)[:, None]
    random = torch.Generator().manual_seed(job.seed)
    row = (job.num_kv_heads, job.head_size)
    query = torch.randn(job.num_seqs, job.num_heads, job.head_size, generator=random)
    key = torch.randn(num_rows, *row, generator=random)
    value = torch.rand(num_rows, *row, generator=random) * 2 - 1
    return query.to(dtype), key.to(dtype), value.to(dtype)
