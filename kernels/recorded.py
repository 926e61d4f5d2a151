"""Recorded runs on a GPU: what `python -m kernels.bench` measured, shown where there is none.

A recording holds points, a point the kernels that were run on the same tensors. Times, bytes and
errors are stored; bandwidths and shares follow from them.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from kernels.job import Device, Result

RESULTS = Path(__file__).parent / "results"
OURS = "ours"
LIMIT = {"decode": "read limit", "write": "copy"}  # the kernel that only moves the same bytes


@dataclass(frozen=True, slots=True)
class Row:
    """One kernel at a point. No `median_us`: not timed. No `worst`: a limit, or `note` says why."""

    kernel: str
    passed: bool | None  # None: it raised, and there is no result
    worst: float | None = None  # the recording's `error`
    tolerance: float | None = None
    median_us: float | None = None  # of one call
    spread: float | None = None  # (90th − 10th percentile) ÷ median, over graph replays
    plan_us: float | None = None  # made once a step for all layers, not in the time
    note: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """One decode step, or one write of new tokens, and the kernels measured on it."""

    name: str
    kind: Literal["decode", "write"]
    num_heads: int
    num_kv_heads: int
    head_size: int
    block_size: int
    dtype: str  # of the cache
    num_seqs: int | None  # None for a write
    max_seq_len: int | None  # the same
    num_tokens: int
    num_bytes: int  # of K and V: read by a decode step; read and written by a write
    defeats_l2: bool | None  # copies of the cache were read in turn, so that none was found in L2
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, result: Result) -> "Point":
        """A run of the app as a point with one row."""
        job, timing = result.job, result.timing
        row = Row(
            OURS,
            result.passed,
            result.worst,
            result.tolerance,
            timing.median_us if timing else None,
            timing.spread if timing else None,
        )
        return cls(
            job.name,
            "decode",
            job.num_heads,
            job.num_kv_heads,
            job.head_size,
            job.block_size,
            job.dtype,
            job.num_seqs,
            max(job.seq_lens),
            job.num_tokens,
            job.kv_bytes,
            timing.defeats_l2 if timing else None,
            (row,),
        )

    def row(self, kernel: str) -> Row | None:
        """The row of a kernel, if it ran."""
        return next((row for row in self.rows if row.kernel == kernel), None)

    def tb_per_s(self, row: Row) -> float | None:
        """Terabytes of K and V per second at the row's median time."""
        return self.num_bytes / row.median_us / 1e6 if row.median_us else None

    def share(self, row: Row) -> float | None:
        """What the point's limit takes ÷ what the row takes: 1 is as fast as memory allows."""
        limit = self.row(LIMIT[self.kind])
        if limit is None or not limit.median_us or not row.median_us:
            return None
        return limit.median_us / row.median_us


@dataclass(frozen=True, slots=True)
class Recording:
    """The points measured in one go on one device."""

    date: str  # ISO, UTC
    device: Device
    error: str  # what `worst` is, in words
    peers: dict[str, str]  # others' kernels that were there, and their versions
    points: tuple[Point, ...]

    @property
    def passed(self) -> bool:
        """Whether no result was wrong, and only others' kernels gave none."""
        rows = [row for point in self.points for row in point.rows]
        return all(row.passed or (row.passed is None and row.kernel in self.peers) for row in rows)

    def to_json(self) -> str:
        """As the files in `results` hold it: a line for what is common, then a line a point."""
        data = asdict(self)
        lines = ",\n".join(json.dumps(point) for point in data.pop("points"))
        return f'{json.dumps(data)[:-1]}, "points": [\n{lines}\n]}}\n'

    @classmethod
    def from_json(cls, text: str) -> "Recording":
        """Read what `to_json` wrote."""
        data = json.loads(text)
        points = tuple(_point(**point) for point in data.pop("points"))
        return cls(device=Device(**data.pop("device")), points=points, **data)


def _point(rows: list[dict[str, Any]], **fields: Any) -> Point:
    return Point(rows=tuple(Row(**row) for row in rows), **fields)


def latest() -> Recording | None:
    """The newest recording made on a GPU, or None."""
    every = [Recording.from_json(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    return max((r for r in every if r.device.kind == "gpu"), key=lambda r: r.date, default=None)
