"""`python -m sim.bench [TRACE…]`: how fast the engine decides, with its log recorded.

Each workload runs in a process of its own, on one core, so that its peak memory is its own. A TRACE
is a file in Mooncake's format (sim/traces/mooncake.py); it runs whole, with blocks of 16, and its
prefix hits are counted in blocks of its own size.
"""

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import numpy as np

from sim.event_log import EventLog
from sim.events import EventKind
from sim.prompt import HashedPrompt, TokenPrompt
from sim.scenario import RequestSpec, Scenario
from sim.simulate import simulate
from sim.traces.mooncake import hash_block_size_of, read_mooncake, to_requests
from sim.traces.reuse import hit_tokens, unlimited_hits, vllm_hit_tokens

SEED = 1
ALL = sys.maxsize
ROUNDS = 5  # of a short workload; the fastest counts
FRAMES = 20  # looked at, at steps drawn by chance
HEADER = (
    f"{'workload':40}{'CPU s':>8}{'steps/s':>10}{'request-steps/s':>17}{'blocks/s':>11}"
    f"{'peak MB':>9}{'frame ms':>10}"
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One workload: CPU seconds of `simulate`, what it did in them, the process' peak memory.

    `request_steps` counts each request in each step in which it computed something; `blocks` those
    that were taken; `frame_ms` is the slowest of some frames, each asked for once.
    """

    name: str
    seconds: float
    steps: int
    request_steps: int
    blocks: int
    peak_mb: float
    frame_ms: float

    def __str__(self) -> str:
        rates = (n / self.seconds for n in (self.steps, self.request_steps, self.blocks))
        steps, request_steps, blocks = rates
        return (
            f"{self.name:40}{self.seconds:8.2f}{steps:10,.0f}{request_steps:17,.0f}{blocks:11,.0f}"
            f"{self.peak_mb:9,.0f}{self.frame_ms:10.1f}"
        )


def requests_2000(num_gpu_blocks: int, caching: bool) -> Scenario:
    """2,000 requests at once, prompts of 1,000 random tokens, 200 output tokens each."""
    rng = Random(SEED)
    prompts = (TokenPrompt(tuple(rng.randrange(128_000) for _ in range(1000))) for _ in range(2000))
    return Scenario(
        num_gpu_blocks=num_gpu_blocks,
        block_size=16,
        requests=tuple(RequestSpec(f"r{i}", 0, prompt, 200) for i, prompt in enumerate(prompts)),
        enable_prefix_caching=caching,
        max_num_batched_tokens=8192,
    )


def million_blocks() -> Scenario:
    """100,000 steps and a million blocks, all of which get used: a long prompt every 100 steps."""
    prompts = (HashedPrompt((2 * i, 2 * i + 1), 8000, 16_000) for i in range(1000))
    return Scenario(
        num_gpu_blocks=1_000_000,
        block_size=16,
        requests=tuple(RequestSpec(f"r{i}", 100 * i, p, 2000) for i, p in enumerate(prompts)),
        max_num_batched_tokens=8192,
        max_model_len=20_000,
    )


def whole_trace(path: str, num_gpu_blocks: int) -> Scenario:
    """All requests of a trace; a step is taken to last 50 ms."""
    requests = to_requests(read_mooncake(Path(path).read_bytes(), ALL), ms_per_step=50.0)
    longest = max(spec.prompt.num_tokens + spec.max_tokens for spec in requests)
    return Scenario(
        num_gpu_blocks=num_gpu_blocks,
        block_size=16,
        requests=requests,
        max_num_batched_tokens=8192,
        max_model_len=longest + 1,
    )


def workloads(traces: list[str]) -> Iterator[tuple[str, Callable[[], Scenario]]]:
    """Name and scenario of each workload."""
    for blocks in (20_001, 8_001):
        for caching in (True, False):
            name = f"2,000 requests, {blocks:,} blocks, {'' if caching else 'no '}caching"
            yield name, partial(requests_2000, blocks, caching)
    yield "100,000 steps, 1,000,000 blocks", million_blocks
    for trace in traces:
        for blocks in (200_001, 10_000_000):
            yield f"{Path(trace).name[:18]}, {blocks:,} blocks", partial(whole_trace, trace, blocks)


def measure(name: str, make: Callable[[], Scenario]) -> Measured:
    """Run one workload."""
    scenario, seconds = make(), float("inf")
    for _ in range(ROUNDS if len(scenario.requests) <= 2000 else 1):
        start = time.process_time()
        log = simulate(scenario, _show)
        seconds = min(seconds, time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    taken = np.diff(log.columns["payload_end"], prepend=0)[log.columns["kind"] == EventKind.TAKE]
    return Measured(
        name,
        seconds,
        log.num_steps,
        request_steps(log),
        int(taken.sum()),
        peak,
        _slowest_frame(log),
    )


def request_steps(log: EventLog) -> int:
    """How often a request computed something in a step; of runs without aborts."""
    kind, ends = log.columns["kind"], log.columns["schedule_end"]
    change = (kind == EventKind.ADMIT).astype(np.int64)
    change -= (kind == EventKind.PREEMPT) | (kind == EventKind.FINISH)
    running = np.concatenate(([0], np.cumsum(change)))[ends]
    left_out = (kind == EventKind.SCHEDULE) & (log.columns["a"] == 0)
    return int(running.sum() - left_out.sum())


def _slowest_frame(log: EventLog) -> float:
    slowest, rng = 0.0, Random(SEED)
    for _ in range(FRAMES):
        start = time.process_time()
        log.frame(rng.randrange(log.num_steps))
        slowest = max(slowest, time.process_time() - start)
    return slowest * 1000


def _show(finished: int, requests: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{finished:,} of {requests:,} requests done", end="\r", file=sys.stderr)


def reuse(path: str) -> str:
    """What an unlimited cache would serve of a trace, in blocks of its own size."""
    rows = read_mooncake(Path(path).read_bytes(), ALL)
    hits, blocks = unlimited_hits(rows), sum(len(row.hash_ids) for row in rows)
    tokens, vllm_tokens = hit_tokens(rows, hits), vllm_hit_tokens(rows, hits)
    return (
        f"{Path(path).name}, blocks of {hash_block_size_of(rows)}: {sum(hits):,} of {blocks:,} hit,"
        f" {sum(tokens):,} tokens; {sum(vllm_tokens):,} by vLLM's rule"
    )


def main(traces: list[str]) -> None:
    """Print one line a workload, as each ends."""
    print(HEADER)
    spawn = multiprocessing.get_context("spawn")
    for name, make in workloads(traces):
        with spawn.Pool(1) as pool:
            print(pool.apply(measure, (name, make)), flush=True)
    for trace in traces:
        print(reuse(trace))


if __name__ == "__main__":
    main(sys.argv[1:])
