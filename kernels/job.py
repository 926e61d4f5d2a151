"""A run of the kernel as plain records: the job asked for, the device it ran on, what came out.

The app and the process that owns torch exchange these; nothing here imports torch.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

DType = Literal["float32", "float16", "bfloat16"]
Kind = Literal["gpu", "interpreter", "torch"]

ITEM_SIZE: dict[DType, int] = {"float32": 4, "float16": 2, "bfloat16": 2}

# Keys and queries are normal, values lie in [-1, 1], so every exact output does too. A 16-bit dtype
# rounds twice on the way, the weights p before they meet V and the output when it is stored; each
# moves an output by at most the dtype's unit roundoff u: 2u. In float32 neither counts, and what is
# left is arithmetic: scores up to about 6 whose rounding moves every weight a little, 16u.
TOLERANCE: dict[DType, float] = {
    "float32": 16 * 2.0**-24,
    "float16": 2 * 2.0**-11,
    "bfloat16": 2 * 2.0**-8,
}
TOLERANCE_REASON: dict[DType, str] = {
    "float32": "16 roundings of float32 (2⁻²⁴ each) on outputs no larger than 1",
    "float16": "two roundings of float16 (2⁻¹¹ each), of the weights and of the output, "
    "on values no larger than 1",
    "bfloat16": "two roundings of bfloat16 (2⁻⁸ each), of the weights and of the output, "
    "on values no larger than 1",
}


class JobError(ValueError):
    """A job that cannot run: one sentence with what is wrong, the number, and what would do."""


@dataclass(frozen=True, slots=True)
class Given:
    """One sequence's query, keys and values for one head, given by hand instead of by a seed."""

    query: tuple[float, ...]
    key: tuple[tuple[float, ...], ...]
    value: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Job:
    """One decode step: where each sequence's tokens lie, the model's shape, and the contents.

    Two tables that name the same block hold the same tokens there. Contents come from `seed`, or
    are `given`. Raises JobError.
    """

    name: str
    block_tables: tuple[tuple[int, ...], ...]
    seq_lens: tuple[int, ...]
    block_size: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    dtype: DType
    seed: int = 0
    given: Given | None = None

    def __post_init__(self) -> None:
        _check_shape(self)
        for seq, (table, seq_len) in enumerate(zip(self.block_tables, self.seq_lens, strict=True)):
            _check_sequence(seq, table, seq_len, self.block_size)

    @property
    def num_seqs(self) -> int:
        """Sequences, one query token each."""
        return len(self.seq_lens)

    @property
    def num_tokens(self) -> int:
        """Tokens read, a shared one once per sequence that reads it."""
        return sum(self.seq_lens)

    @property
    def num_blocks(self) -> int:
        """Blocks in the pool: up to the largest id in a table."""
        return 1 + max((max(table) for table in self.block_tables if table), default=0)

    @property
    def token_bytes(self) -> int:
        """Bytes of one token's K and V."""
        return 2 * self.num_kv_heads * self.head_size * ITEM_SIZE[self.dtype]

    @property
    def kv_bytes(self) -> int:
        """Bytes of K and V that one call must read."""
        return self.num_tokens * self.token_bytes

    def to_json(self) -> dict[str, Any]:
        """Every field, as JSON types."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Device:
    """Where a run happened, with the versions that decide what was run."""

    kind: Kind
    name: str
    torch: str
    triton: str | None = None
    cuda: str | None = None
    driver: str | None = None

    def __str__(self) -> str:
        parts = {
            "torch": self.torch,
            "Triton": self.triton,
            "CUDA": self.cuda,
            "driver": self.driver,
        }
        return " · ".join([self.name, *(f"{k} {v}" for k, v in parts.items() if v)])


@dataclass(frozen=True, slots=True)
class Timing:
    """Times of the attention kernel on a GPU, by CUDA events around graphs of many launches."""

    samples_us: tuple[float, ...]  # microseconds per launch, one for each graph replay
    launches: int  # in a graph
    copies: int  # of the cache, read in turn
    copies_bytes: int  # of all copies together
    l2_bytes: int

    @property
    def median_us(self) -> float:
        """Microseconds per launch."""
        return float(np.median(self.samples_us))

    @property
    def spread(self) -> float:
        """(90th − 10th percentile) ÷ median."""
        low, high = np.percentile(self.samples_us, [10, 90])
        return float((high - low) / self.median_us)

    @property
    def defeats_l2(self) -> bool:
        """Whether the copies read between two reads of one address exceed the L2 twice."""
        return self.copies_bytes > 2 * self.l2_bytes


@dataclass(frozen=True, slots=True)
class Result:
    """What one job gave: [num_seqs, num_heads, head_size] float64 outputs and their reference."""

    job: Job
    device: Device
    output: np.ndarray
    reference: np.ndarray
    seconds: float  # wall time of the attention call compared here, compilation included
    timing: Timing | None

    @property
    def tolerance(self) -> float:
        """The largest absolute error that passes."""
        return TOLERANCE[self.job.dtype]

    @property
    def error(self) -> np.ndarray:
        """|output − reference|; infinite where the output is not a number."""
        error = np.abs(self.output - self.reference)
        return np.where(np.isnan(error), np.inf, error)

    @property
    def worst(self) -> float:
        """The largest error."""
        return float(self.error.max())

    @property
    def outside(self) -> int:
        """Outputs beyond the tolerance."""
        return int((self.error > self.tolerance).sum())

    @property
    def passed(self) -> bool:
        """Whether every output lies within the tolerance."""
        return self.outside == 0

    @property
    def tb_per_s(self) -> float | None:
        """Terabytes of K and V per second at the median time."""
        return self.job.kv_bytes / self.timing.median_us / 1e6 if self.timing else None


def _check_shape(job: Job) -> None:
    if not 1 <= len(job.block_tables) == len(job.seq_lens):
        raise JobError(
            f"{len(job.block_tables)} block tables and {len(job.seq_lens)} lengths: "
            "give one of each per sequence, and at least one sequence."
        )
    if job.dtype not in get_args(DType):
        raise JobError(f"dtype {job.dtype} is not one of {', '.join(get_args(DType))}.")
    if job.block_size < 1 or job.num_kv_heads < 1 or job.seed < 0:
        raise JobError(
            f"block size {job.block_size}, {job.num_kv_heads} KV heads, seed {job.seed}: "
            "the first two must be at least 1, the seed at least 0."
        )
    if job.num_heads < 1 or job.num_heads % job.num_kv_heads:
        raise JobError(
            f"{job.num_heads} heads cannot share {job.num_kv_heads} KV heads evenly: "
            "take a multiple."
        )
    if not 1 <= job.head_size * ITEM_SIZE[job.dtype] <= 512:
        raise JobError(
            f"A head of {job.head_size} in {job.dtype} is outside what the kernel holds: "
            "1 to 128 in float32, 1 to 256 in 16 bits."
        )


def _check_sequence(seq: int, table: tuple[int, ...], seq_len: int, block_size: int) -> None:
    if not 0 <= seq_len <= len(table) * block_size:
        raise JobError(
            f"Sequence {seq} has {seq_len} tokens; its {len(table)} blocks of {block_size} "
            f"hold 0 to {len(table) * block_size}."
        )
    if any(block < 0 for block in table):
        raise JobError(f"Sequence {seq}'s block table holds {min(table)}; ids start at 0.")
