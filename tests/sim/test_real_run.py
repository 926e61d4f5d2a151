"""Real vLLM runs beside the simulator's, with the step time that fits their own throughput.

A plain loop that counts blocks (tests/sim/plain_loop.py) writes one more, in the same format.
"""

import json
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from random import Random

import numpy as np
import pytest

from sim.events import EventKind
from sim.scenario import Scenario
from sim.simulate import simulate
from sim.step_time import RTX4090_LLAMA_3_1_8B
from sim.traces.formats import read_trace
from sim.traces.mooncake import TraceError, TraceRow, read_mooncake, to_requests
from sim.traces.vllm_run import (
    RequestTimes,
    Second,
    fit_step_time,
    read_request_times,
    read_time_series,
)
from tests.sim.plain_loop import PlainLoop

RUNS = Path(__file__).parents[3] / "shared/traces/vllm_runs"
BUDGET = 2048  # max_num_batched_tokens of the recorded runs


@dataclass
class Recording:
    """A workload, the engine that served it, and what was recorded."""

    rows: list[TraceRow]
    engine: dict[str, int | bool]
    series: list[Second]
    requests: list[RequestTimes]


@cache
def plain(count=150, num_gpu_blocks=1000, budget=BUDGET):
    """A chat-like workload without shared prefixes, served by the plain loop."""
    rng = Random(1)
    rows = [
        TraceRow(i, 120.0 * i, n, rng.randint(50, 500), tuple(range(100 * i, 100 * i - -n // 16)))
        for i, n in enumerate(rng.randint(17, 900) for _ in range(count))
    ]
    csv, lines = PlainLoop(rows, RTX4090_LLAMA_3_1_8B, num_gpu_blocks, budget).run()
    engine = {
        "num_gpu_blocks": num_gpu_blocks,
        "max_num_batched_tokens": budget,
        "enable_prefix_caching": False,
    }
    return Recording(rows, engine, read_time_series(csv), read_request_times(lines))


@cache
def recorded(name):
    """A recording by its name; the pool holds the whole workload where its size is unknown."""
    rows = read_mooncake((RUNS / "sharegpt_300_block16.jsonl.gz").read_bytes(), 300)
    meta = json.loads((RUNS / f"{name}_meta.json").read_bytes())
    pool = (meta["kv_cache"] or {"num_gpu_blocks": 30_000})["num_gpu_blocks"]
    engine = {"num_gpu_blocks": pool, "max_num_seqs": meta["engine_kwargs"]["max_num_seqs"]}
    series = read_time_series((RUNS / f"{name}_timeseries.csv").read_bytes())
    requests = read_request_times((RUNS / f"{name}_requests.jsonl.gz").read_bytes())
    return Recording(rows, engine, series, requests)


REAL = ("RTX4090_Llama-3.1-8B", "RTXPRO6000_Llama-3.1-8B")
RECORDINGS = {
    "plain loop": plain,
    **{name: partial(recorded, name) for name in REAL if (RUNS / f"{name}_meta.json").exists()},
}


def simulated(recording, step_time):
    requests = to_requests(recording.rows, step_time.tick_ms)
    settings = {"max_num_batched_tokens": BUDGET, "max_model_len": 32_768, **recording.engine}
    return simulate(Scenario(block_size=16, requests=requests, step_time=step_time, **settings))


def loads(log):
    """Running, waiting and KV % at the end of each second, [seconds, 3]; ticks of 1 ms.

    As a step's statistics are those of its end, it is the last step that ended by then.
    """
    starts = log.columns["engine_step"]
    ends = 1000 * np.arange(1, -(-int(starts[-1]) // 1000) + 1)
    steps = np.searchsorted(starts, ends, side="right") - 2
    frames = [log.frame(step, "update") for step in steps.tolist()]
    return np.array([(len(f.running), len(f.waiting), 100 * f.usage) for f in frames])


def recorded_loads(recording):
    return np.array([(s.running, s.waiting, s.kv_cache_pct) for s in recording.series])


@pytest.fixture(scope="module", params=RECORDINGS)
def outcome(request):
    """A recording, and the simulator's run of it with the step time of its own throughput."""
    recording = RECORDINGS[request.param]()
    return recording, simulated(recording, fit_step_time(recording.series))


def test_the_load_is_the_recorded_one(outcome):
    recording, log = outcome
    ours, theirs = loads(log), recorded_loads(recording)
    assert abs(len(ours) - len(theirs)) <= 0.05 * len(theirs)
    assert abs(ours[:, 0].max() - theirs[:, 0].max()) <= 2
    (running, _, used), (recorded_running, _, recorded_used) = (
        load[load[:, 1] > 0].mean(0) for load in (ours, theirs)
    )
    assert running == pytest.approx(recorded_running, abs=1)
    if theirs[:, 2].any():
        assert used == pytest.approx(recorded_used, abs=1.5)


def test_requests_are_first_scheduled_in_the_recorded_order(outcome):
    recording, log = outcome
    admitted = log.columns["request"][log.columns["kind"] == EventKind.ADMIT].tolist()
    times = recording.requests
    assert list(dict.fromkeys(admitted)) == sorted(
        range(len(times)), key=lambda i: times[i].scheduled_ts
    )
    assert list(dict.fromkeys(admitted)) == sorted(
        range(len(times)), key=lambda i: times[i].arrival_time
    )


def test_requests_finish_about_when_they_did(outcome):
    recording, log = outcome
    rows = np.flatnonzero(log.columns["kind"] == EventKind.FINISH)
    steps = np.searchsorted(log.columns["update_end"], rows, side="right")
    ends = np.empty(len(rows))
    ends[log.columns["request"][rows]] = log.columns["engine_step"][steps + 1] / 1000
    start = min(r.queued_ts for r in recording.requests)
    theirs = np.array([r.last_token_ts - start for r in recording.requests])
    assert np.abs(ends - theirs).mean() <= 0.03 * theirs.max()


def hundredths_of_ms(step_time):
    """A step of 30 decodes, and one of a full budget of prompt tokens."""
    fine = replace(step_time, tick_ms=0.01)
    return fine.ticks(0, 30), fine.ticks(BUDGET, 0)


@pytest.mark.parametrize(
    ("name", "within"),
    # The loop ran with the constant; recomputation is not in its series, but took time.
    [("plain loop", 0.1)] + [(name, 0.001) for name in RECORDINGS if name == REAL[0]],
)
def test_the_step_time_of_a_run_is_its_fit(name, within):
    fit = fit_step_time(RECORDINGS[name]().series)
    known = hundredths_of_ms(RTX4090_LLAMA_3_1_8B)
    assert hundredths_of_ms(fit) == pytest.approx(known, rel=within)


@pytest.mark.parametrize(
    ("count", "num_gpu_blocks", "budget"), [(150, 1000, BUDGET), (40, 300, 12), (40, 300, 64)]
)
def test_a_plain_loop_counts_the_same_every_second(count, num_gpu_blocks, budget):
    recording = plain(count, num_gpu_blocks, budget)
    log = simulated(recording, RTX4090_LLAMA_3_1_8B)
    theirs = recorded_loads(recording)
    assert theirs[:, 1].max() > 10
    assert EventKind.PREEMPT in log.columns["kind"]
    np.testing.assert_allclose(loads(log), theirs, rtol=0, atol=1e-9)


def test_the_requests_that_a_run_served_can_be_asked_for_again():
    times = {"queued_ts": 1, "scheduled_ts": 1, "first_token_ts": 1, "last_token_ts": 1}
    lines = [
        {
            "request_id": "b",
            "input_toks": 70_000,
            "output_toks": 9,
            "arrival_time": 100.12,
            **times,
        },
        {"request_id": "a", "input_toks": 20, "output_toks": 3, "arrival_time": 100.0, **times},
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    first, second = read_trace(data, 9, ms_per_step=50)

    assert [(r.id, r.arrival_step, r.prompt.num_tokens, r.max_tokens) for r in (first, second)] == [
        ("r0", 2, 70_000, 9),
        ("r1", 0, 20, 3),
    ]
    assert first.prompt.content(0, 16) != second.prompt.content(0, 16)
    assert len(read_trace(data, 1, ms_per_step=50)) == 1
    with pytest.raises(TraceError, match="line 1: output_toks is missing"):
        read_trace(b'{"request_id": "a", "input_toks": 3}', 9, ms_per_step=50)
