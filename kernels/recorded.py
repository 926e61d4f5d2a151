"""Recorded runs on a GPU: what `python -m kernels.record` measured, shown where there is none."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from kernels.job import Device, DType, Result

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Row:
    """One case of a recording."""

    case: str
    dtype: DType
    worst: float
    tolerance: float
    passed: bool
    kv_bytes: int
    median_us: float | None
    spread: float | None  # (90th − 10th percentile) ÷ median
    tb_per_s: float | None
    defeats_l2: bool | None

    @classmethod
    def of(cls, case: str, result: Result) -> "Row":
        """The row of a result."""
        timing = result.timing
        return cls(
            case,
            result.job.dtype,
            result.worst,
            result.tolerance,
            result.passed,
            result.job.kv_bytes,
            timing.median_us if timing else None,
            timing.spread if timing else None,
            result.tb_per_s,
            timing.defeats_l2 if timing else None,
        )


@dataclass(frozen=True, slots=True)
class Recording:
    """The cases measured in one go on one device."""

    date: str  # ISO, UTC
    device: Device
    rows: tuple[Row, ...]

    def to_json(self) -> str:
        """As the files in `results` hold it."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Recording":
        """Read what `to_json` wrote."""
        data = json.loads(text)
        rows = tuple(Row(**row) for row in data["rows"])
        return cls(data["date"], Device(**data["device"]), rows)


def latest() -> Recording | None:
    """The newest recording made on a GPU, or None."""
    every = [Recording.from_json(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    return max((r for r in every if r.device.kind == "gpu"), key=lambda r: r.date, default=None)
