"""A case's contest: every kernel that takes it, compared with float64 and then timed."""

import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from kernels.cases import Case, Decode
from kernels.contenders import DECODE, Contender, read_limits
from kernels.device import torch_device
from kernels.job import Device, Timing
from kernels.peers import PEERS
from kernels.pools import make_pools, pools_past_l2
from kernels.recorded import LIMIT, Point, Row
from kernels.timing import l2_bytes, replay
from kernels.writes import WRITE, copy_limit, make_writes

SAMPLES = 20  # graph replays
PLANS = 5
ERROR = "largest ‖output − float64‖ ÷ ‖float64‖ of a head; of a write, the largest difference"

Make = Callable[[Any], Contender | None]
Show = Callable[[str], None]


def measure(case: Case, device: Device, peers: Iterable[str], timed: bool, show: Show) -> Point:
    """Run every kernel that takes the case; `show` hears which one is at it."""
    copies = pools_past_l2(case.num_bytes, l2_bytes()) if timed else 1
    setup, limits, makers = _set_up(case, torch_device(device), copies, peers)
    kind = "decode" if isinstance(case, Decode) else "write"
    rows, defeats_l2 = [], None
    if timed:
        show(LIMIT[kind])
        limit = fastest(limits, case, copies)
        defeats_l2 = limit.defeats_l2
        rows.append(Row(LIMIT[kind], True, median_us=limit.median_us, spread=limit.spread))
    for name, make in makers.items():
        show(name)
        rows.extend(compete(name, make, setup, case, copies if timed else 0))
    return point(case, tuple(rows), defeats_l2)


def _set_up(
    case: Case, device: torch.device, copies: int, peers: Iterable[str]
) -> tuple[object, list[Contender], Mapping[str, Make]]:
    """The case's tensors, its limits, and how each kernel is made ready."""
    if isinstance(case, Decode):
        pools = make_pools(case, device, copies)
        return pools, read_limits(pools), DECODE | {name: PEERS[name].make for name in peers}
    writes = make_writes(case, device, copies)
    return writes, copy_limit(writes), WRITE


def fastest(limits: Iterable[Contender], case: Case, copies: int) -> Timing:
    """The times of the fastest."""
    return min((_time(limit, case, copies) for limit in limits), key=lambda t: t.median_us)


def compete(name: str, make: Make, setup: object, case: Case, copies: int) -> list[Row]:
    """The row of a kernel: none if it does not take the case, no time if it is wrong or no copies.

    Whatever it raises is its row's note.
    """
    try:
        contender = make(setup)
        if contender is None:
            return []
        row = _compare(name, contender)
        if not copies or not row.passed:
            return [row]
        timing = _time(contender, case, copies)
        plan_us = _plan_us(contender.plan) if contender.plan else None
    except Exception as error:
        return [Row(name, None, note=f"{type(error).__name__}: {error}".partition("\n")[0])]
    return [replace(row, median_us=timing.median_us, spread=timing.spread, plan_us=plan_us)]


def _compare(name: str, contender: Contender) -> Row:
    assert contender.worst
    assert contender.tolerance is not None
    worst = contender.worst()
    if not math.isfinite(worst):
        return Row(name, False, tolerance=contender.tolerance, note="not a number")
    return Row(name, worst <= contender.tolerance, worst, contender.tolerance)


def _time(contender: Contender, case: Case, copies: int) -> Timing:
    contender.run(0)  # compiles what no comparison has run
    calls = [partial(contender.run, copy) for copy in range(copies)]
    return replay(calls, case.num_bytes, SAMPLES)


def _plan_us(plan: Callable[[], object]) -> float:
    """The median time that the host and the device take for a plan, one after the other."""
    times = []
    for _ in range(PLANS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        plan()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)


def point(case: Case, rows: tuple[Row, ...], defeats_l2: bool | None) -> Point:
    """What was measured on a case, as it is recorded."""
    heads = case.job if isinstance(case, Decode) else case.model
    shape = (heads.num_heads, heads.num_kv_heads, heads.head_size)
    measured = (case.num_bytes, defeats_l2, rows)
    if isinstance(case, Decode):
        job = case.job
        lengths = (job.num_seqs, max(job.seq_lens), job.num_tokens)
        return Point(case.name, "decode", *shape, job.block_size, case.dtype, *lengths, *measured)
    tokens = (None, None, case.num_tokens)
    return Point(case.name, "write", *shape, case.block_size, case.dtype, *tokens, *measured)
