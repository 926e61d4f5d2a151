"""`python -m kernels.bench`: how fast the kernels are, beside others', and whether they are right.

    python -m kernels.bench [--preset NAME] [--block-sizes 1,16,64] [--step FILE] [--json FILE]

Every kernel is compared with float64 on the values that the cache holds, then timed: CUDA graphs
over copies of the cache that exceed the L2 tenfold, read in turn. The limit of a decode step is a
plain read of the same bytes, that of a write a plain copy. Exits with 1 if a result is wrong.
--parity compares and times nothing; Triton's interpreter takes that too, of cases cut to fit.
"""

import argparse
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import torch

from kernels.cases import PRESETS, Case, Decode, cases, cut, simulated_step
from kernels.contest import ERROR, measure
from kernels.device import find_device
from kernels.job import Device
from kernels.peers import PEERS, installed
from kernels.recorded import Point, Recording, Row

MAX_BLOCK_SIZE = 2048
BAR = 24  # characters
NO_GPU = (
    "No GPU here, so nothing is timed: --parity compares the same kernels with float64 in Triton's "
    "interpreter, in about 20 s, and kernels/results holds what was recorded on a GPU."
)
NO_TRITON = "No Triton for this system: there is no kernel to run."

HEADER = (
    f"{'':16}{'µs':>10}{'spread':>8}{'TB/s':>7}{'of limit':>10}{'plan µs':>9}"
    f"{'worst':>10}{'tolerance':>11}"
)


def table(point: Point) -> str:
    """A point as lines: what it is, then a row a kernel under HEADER."""
    what = f"{point.dtype}, blocks of {point.block_size}, {point.num_bytes / 1e6:,.1f} MB"
    warm = "" if point.defeats_l2 in (True, None) else ", read from the L2"
    return "\n".join([f"{point.name} · {what}{warm}", *(_line(point, row) for row in point.rows)])


def _line(point: Point, row: Row) -> str:
    cells = (
        (row.median_us, 10, ".2f"),
        (row.spread, 8, ".1%"),
        (point.tb_per_s(row), 7, ".2f"),
        (point.share(row), 10, ".3f"),
        (row.plan_us, 9, ".0f"),
        (row.worst, 10, ".1e"),
        (row.tolerance, 11, ".1e"),
    )
    numbers = "".join("–".rjust(w) if x is None else f"{x:{w}{form}}" for x, w, form in cells)
    verdict = {True: "ok" if row.tolerance is not None else "", False: "FAIL", None: "no result"}
    return f"  {row.kernel:14}{numbers}  {verdict[row.passed]}  {row.note}".rstrip()


def bench(chosen: list[Case], device: Device, timed: bool) -> Recording:
    """Measure the cases one after the other, printing each as it is done."""
    peers = installed() if timed else {}
    print(f"{device} · Python {sys.version.split()[0]}")
    absent = [name for name in PEERS if timed and name not in peers]
    if absent:
        print(f"not installed: {', '.join(absent)}")
    print(HEADER)
    points = []
    for done, case in enumerate(chosen):
        show = partial(progress, done, len(chosen), case.name)
        points.append(measure(case, device, peers, timed, show))
        progress(done, len(chosen))
        print(table(points[-1]), flush=True)
        if timed:
            torch.cuda.empty_cache()
    return Recording(datetime.now(UTC).date().isoformat(), device, ERROR, peers, tuple(points))


def progress(done: int, total: int, *now: str) -> None:
    """A bar on the terminal, if there is one; cleared when nothing is going on."""
    if sys.stderr.isatty():
        filled = BAR * done // total
        bar = f"[{'#' * filled}{'.' * (BAR - filled)}] {done} of {total} · {' · '.join(now)}"
        print(f"\r\033[K{bar if now else ''}", end="", file=sys.stderr, flush=True)


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line; says in a sentence what is wrong with it, and exits with 2."""
    parser = argparse.ArgumentParser("python -m kernels.bench", description=_summary())
    parser.add_argument("--preset", default="all", choices=("all", *PRESETS), help="which cases")
    parser.add_argument(
        "--block-sizes",
        type=_block_sizes,
        default=(),
        metavar="N,N",
        help="measure the models' decode steps at these instead",
    )
    parser.add_argument(
        "--step", type=_step, help="add block_tables, seq_lens, block_size, as JSON"
    )
    parser.add_argument("--json", type=_writable, metavar="FILE", help="write the recording here")
    parser.add_argument("--parity", action="store_true", help="compare only, time nothing")
    return parser.parse_args(arguments)


def _summary() -> str:
    return (__doc__ or "").partition("\n")[0].partition(": ")[2]


def _block_sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(size) for size in text.split(","))
    except ValueError:
        sizes = ()
    if not sizes or not all(1 <= size <= MAX_BLOCK_SIZE for size in sizes):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no list of block sizes: 1 to {MAX_BLOCK_SIZE:,}, with commas between"
        )
    return sizes


def _step(name: str) -> Decode:
    try:
        return simulated_step(Path(name))
    except KeyError as missing:
        raise argparse.ArgumentTypeError(f"{name} has no {missing}") from None
    except (OSError, TypeError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{name} holds no step: {error}") from None


def _writable(name: str) -> Path:
    path = Path(name)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"{name} cannot be written: there is no such folder")
    return path


def main(arguments: list[str] | None = None) -> int:
    """Parse, measure, write."""
    asked, device = options(arguments), find_device()
    if device.kind != "gpu" and not (asked.parity and device.kind == "interpreter"):
        print(NO_GPU if device.kind == "interpreter" else NO_TRITON, file=sys.stderr)
        return 2
    chosen = cases(asked.preset, asked.block_sizes) + ([asked.step] if asked.step else [])
    if device.kind == "interpreter":
        chosen = cut(chosen)
    recording = bench(chosen, device, timed=not asked.parity)
    if asked.json:
        asked.json.write_text(recording.to_json())
    return int(not recording.passed)


if __name__ == "__main__":
    sys.exit(main())
