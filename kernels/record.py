"""`python -m kernels.record`: the standard cases on this machine, as a table and as a recording.

    python -m kernels.record --tests --step step.json --out kernels/results/h200.json

--tests runs tests/kernels first, compiled where there is a GPU. --step adds a simulated step, a
JSON file with block_tables, seq_lens and block_size. Exits with 1 if a test or a case fails.
Without a GPU the cases are cut to what the interpreter takes, and nothing is timed.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from kernels import bounds
from kernels.device import find_device
from kernels.job import Device, DType, Job, JobError
from kernels.parity import run
from kernels.presets import MODELS, decode_step, lesson
from kernels.recorded import Recording, Row

TESTS = Path(__file__).resolve().parent.parent / "tests" / "kernels"
DTYPES: tuple[DType, ...] = ("float32", "float16", "bfloat16")
RAGGED = (1, 15, 16, 17, 0, 300, 4096, 20000, 511, 512, 513, 2048)


def cases(step: Path | None) -> Iterator[tuple[str, Job]]:
    """Every case with the name it is recorded under."""
    qwen, llama = MODELS["Qwen2.5-7B"], MODELS["Llama-3.1-8B"]
    for dtype in DTYPES:
        yield "lesson", lesson(dtype)
        yield "Qwen2.5-7B 8×4k", decode_step(qwen, (4096,) * 8, dtype=dtype)
    contiguous = decode_step(qwen, (4096,) * 8, dtype="bfloat16", order="contiguous")
    yield "Qwen2.5-7B 8×4k, contiguous", contiguous
    yield "Qwen2.5-7B 32×2k", decode_step(qwen, (2048,) * 32, dtype="bfloat16")
    yield "Llama-3.1-8B 8×4k", decode_step(llama, (4096,) * 8, dtype="bfloat16")
    yield "Llama-3.1-8B 64×8k", decode_step(llama, (8192,) * 64, dtype="bfloat16")
    for dtype in DTYPES:
        yield "Qwen2.5-7B ragged, 0 to 20k", decode_step(qwen, RAGGED, dtype=dtype)
        if step:
            yield f"simulated step {step.stem}", simulated_step(step, dtype)


def simulated_step(path: Path, dtype: DType) -> Job:
    """The tables of a file with a model's heads."""
    data = json.loads(path.read_text())
    tables = tuple(tuple(table) for table in data["block_tables"])
    model = MODELS["Qwen2.5-7B"]
    return Job(
        model.name,
        tables,
        tuple(data["seq_lens"]),
        data["block_size"],
        model.num_heads,
        model.num_kv_heads,
        model.head_size,
        dtype,
    )


def record(device: Device, step: Path | None) -> Recording:
    """Run the cases one after the other, printing each as it is done."""
    print(f"{device} · Python {sys.version.split()[0]}\n{_HEADER}")
    rows = []
    for case, job in cases(step):
        try:
            rows.append(Row.of(case, run(bounds.fit(job, device.kind), device)))
        except JobError as refusal:
            print(f"{case:30} {job.dtype:9} {refusal}")
        else:
            print(_line(rows[-1]), flush=True)
    return Recording(datetime.now(UTC).date().isoformat(), device, tuple(rows))


_HEADER = (
    f"{'case':30} {'dtype':9} {'worst':>9} {'tolerance':>9}      "
    f"{'µs':>9} {'spread':>7} {'KV MB':>9} {'TB/s':>6}"
)


def _line(row: Row) -> str:
    parity = f"{row.case:30} {row.dtype:9} {row.worst:9.2e} {row.tolerance:9.2e}"
    verdict = "ok  " if row.passed else "FAIL"
    if row.median_us is None or row.spread is None:
        return f"{parity} {verdict} {'–':>9} {'–':>7} {row.kv_bytes / 1e6:9.3f} {'–':>6}"
    cold = "" if row.defeats_l2 else "  (fits in L2)"
    time = f"{row.median_us:9.2f} {row.spread:7.2%} {row.kv_bytes / 1e6:9.3f} {row.tb_per_s:6.3f}"
    return f"{parity} {verdict} {time}{cold}"


def main() -> int:
    """Parse, test, record, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tests", action="store_true", help="run tests/kernels first")
    parser.add_argument("--step", type=Path, help="block_tables, seq_lens, block_size as JSON")
    parser.add_argument("--out", type=Path, help="write the recording here")
    options = parser.parse_args()
    tested = 0
    if options.tests:
        pytest = [sys.executable, "-m", "pytest", "-q", str(TESTS)]
        tested = subprocess.run(pytest, cwd=TESTS.parent.parent, check=False).returncode
    recording = record(find_device(), options.step)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(recording.to_json())
    return int(tested != 0 or not all(row.passed for row in recording.rows))


if __name__ == "__main__":
    sys.exit(main())
