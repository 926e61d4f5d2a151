"""How much work a job is, what a device takes on, and how to cut a job that is too large.

Triton's interpreter runs a program as NumPy calls in Python: a tile of 64 tokens of one KV head
costs about the same whatever its width, so the cost of a job is its number of tiles.
"""

from dataclasses import replace

import numpy as np

from kernels.job import Job, JobError, Kind

TILE_SIZE = 64  # tokens that a program reads, or writes, in one step
SECONDS_PER_TILE = 0.015  # interpreter, writing and attending; measured on a shared 2-core server
MAX_TILES = 512
MAX_CPU_BYTES = 2_000_000_000


def num_tiles(job: Job) -> int:
    """Tiles over all sequences and KV heads."""
    return job.num_kv_heads * sum(_tiles(seq_len) for seq_len in job.seq_lens)


def seconds(job: Job) -> float:
    """About how long the interpreter takes for the job."""
    return num_tiles(job) * SECONDS_PER_TILE


def num_bytes(job: Job) -> int:
    """Memory the comparison needs: pool, tokens, and one sequence in float64 for the reference."""
    pool = job.num_blocks * job.block_size * job.token_bytes
    longest = 2 * max(job.seq_lens) * job.num_kv_heads * job.head_size * 8
    return pool + job.kv_bytes + 2 * longest  # einsum makes copies of its operands


def check(job: Job, kind: Kind, free_bytes: int | None = None) -> None:
    """Raise JobError if a device of this kind, with so much free memory, must not take the job.

    Unknown free memory is no bound on a GPU, and MAX_CPU_BYTES elsewhere.
    """
    if free_bytes is None and kind != "gpu":
        free_bytes = MAX_CPU_BYTES
    if kind == "interpreter" and job.dtype == "bfloat16":
        raise JobError(
            "Triton's interpreter computes bfloat16 wrongly (it multiplies the raw bits): "
            "take float16 or float32 here, bfloat16 on a GPU."
        )
    if kind == "interpreter" and num_tiles(job) > MAX_TILES:
        raise JobError(
            f"{num_tiles(job):,} tiles of {TILE_SIZE} tokens would take the interpreter about "
            f"{seconds(job):,.0f} s: at most {MAX_TILES} tiles, "
            f"about {MAX_TILES * SECONDS_PER_TILE:.0f} s, run here."
        )
    if free_bytes is not None and num_bytes(job) > free_bytes:
        raise JobError(
            f"The job needs {num_bytes(job) / 1e9:,.1f} GB and {free_bytes / 1e9:,.1f} GB "
            "may be used: take fewer or shorter sequences."
        )


def fit(job: Job, kind: Kind) -> Job:
    """The job itself, or the largest cut of it that the interpreter takes.

    First KV heads go (each with its query heads), then sequences from the end, then tokens from the
    end of the first sequence.
    """
    if kind != "interpreter" or num_tiles(job) <= MAX_TILES:
        return job
    job = _keep_heads(job, max(1, MAX_TILES * job.num_kv_heads // num_tiles(job)))
    tiles = np.cumsum([job.num_kv_heads * _tiles(seq_len) for seq_len in job.seq_lens])
    job = _keep_seqs(job, max(1, int(np.searchsorted(tiles, MAX_TILES, side="right"))))
    return job if num_tiles(job) <= MAX_TILES else _keep_tokens(job, MAX_TILES * TILE_SIZE)


def describe_cut(job: Job, cut: Job) -> str:
    """What of the job is left in its cut: "1 of 4 KV heads (7 of 28 heads), 3 of 8 sequences"."""
    parts = []
    if cut.num_kv_heads != job.num_kv_heads:
        heads = f"{cut.num_heads} of {job.num_heads} heads"
        parts.append(f"{cut.num_kv_heads} of {job.num_kv_heads} KV heads ({heads})")
    if cut.num_seqs != job.num_seqs:
        parts.append(f"{cut.num_seqs:,} of {job.num_seqs:,} sequences")
    if cut.seq_lens[0] != job.seq_lens[0]:
        parts.append(f"{cut.seq_lens[0]:,} of {job.seq_lens[0]:,} tokens")
    return ", ".join(parts)


def _tiles(seq_len: int) -> int:
    return -(-seq_len // TILE_SIZE)


def _keep_heads(job: Job, num_kv_heads: int) -> Job:
    num_heads = job.num_heads // job.num_kv_heads * num_kv_heads
    return replace(job, num_heads=num_heads, num_kv_heads=num_kv_heads)


def _keep_seqs(job: Job, num_seqs: int) -> Job:
    return replace(job, block_tables=job.block_tables[:num_seqs], seq_lens=job.seq_lens[:num_seqs])


def _keep_tokens(job: Job, num_tokens: int) -> Job:
    num_blocks = -(-num_tokens // job.block_size)
    return replace(job, block_tables=(job.block_tables[0][:num_blocks],), seq_lens=(num_tokens,))
