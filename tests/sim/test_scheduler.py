"""Hand-sized runs; the recordings of vLLM itself cover every rule (test_conformance.py)."""

import subprocess
import sys
from dataclasses import replace

import pytest

from sim.checked import ScenarioError
from sim.events import EventKind, FinishReason
from sim.prompt import HashedPrompt
from sim.scenario import RequestSpec
from sim.simulate import simulate
from sim.step_time import StepTime


def rows(log, *kinds):
    c = log.columns
    names = [spec.id for spec in log.scenario.requests]
    return [
        (EventKind(k).name, names[r], log.payload(i).tolist())
        for i, (k, r) in enumerate(zip(c["kind"], c["request"], strict=True))
        if EventKind(k) in kinds
    ]


def test_prompt_is_cut_to_the_budget_and_decodes_go_first(scenario, request_spec):
    a = request_spec("A", [1, 2], 5)
    b = request_spec("B", [5] * 9, 1, arrival=1)
    log = simulate(scenario(a, b, max_num_batched_tokens=5))
    assert [log.frame(i).scheduled for i in range(4)] == [
        (("A", 2, 0),),
        (("A", 1, 2), ("B", 4, 0)),
        (("A", 1, 3), ("B", 4, 4)),
        (("A", 1, 4), ("B", 1, 8)),
    ]


def test_blocks_are_taken_on_demand(scenario, request_spec):
    log = simulate(scenario(request_spec("A", [1, 2, 3], 7)))
    tables = [log.frame(i).requests["A"].block_table for i in range(7)]
    assert tables == [(1,), (1,), (1, 2), (1, 2), (1, 2), (1, 2), (1, 2, 3)]


def test_last_admitted_gives_way_and_comes_back_on_its_own_blocks(scenario, request_spec):
    a = request_spec("A", [1] * 8, 5)
    b = request_spec("B", [2] * 8, 5)
    log = simulate(scenario(a, b, num_gpu_blocks=6))
    assert rows(log, EventKind.PREEMPT, EventKind.TAKE, EventKind.TOUCH) == [
        ("TAKE", "A", [1, 2]),
        ("TAKE", "B", [3, 4]),
        ("TAKE", "A", [5]),
        ("PREEMPT", "B", []),
        ("TOUCH", "B", [3, 4]),
        ("TAKE", "B", [5]),
    ]
    resumed = log.frame(5)
    assert resumed.scheduled == (("B", 1, 8),)
    assert resumed.requests["B"].num_preemptions == 1


def test_the_token_of_a_decoder_that_gives_way_goes_to_who_comes_after_it(scenario, request_spec):
    """3 tokens a step. At step 4 C finds no block; B, behind it, gives way, so A computes 2."""
    a = request_spec("A", [1] * 7, 2, arrival=1, priority=0)
    b = request_spec("B", [2] * 4, 4, priority=1)
    c = request_spec("C", [3], 5, priority=0)
    engine = {"block_size": 2, "num_gpu_blocks": 7, "max_num_batched_tokens": 3}
    engine |= {"policy": "priority", "scheduler_reserve_full_isl": False}
    log = simulate(scenario(a, b, c, **engine))
    assert log.frame(3).scheduled == (("C", 1, 3), ("B", 1, 5), ("A", 1, 1))
    assert log.frame(4).scheduled == (("C", 1, 4), ("A", 2, 2))
    assert rows(log, EventKind.PREEMPT) == [("PREEMPT", "B", [])]


@pytest.mark.parametrize(("prompt", "next_chunk"), [(3, 1), (7, 4)])
def test_whoever_is_behind_a_request_that_gives_way_itself_gets_nothing(
    scenario, request_spec, prompt, next_chunk
):
    """2 usable blocks. At step 2 A needs a third, and is the least urgent: the step ends there.

    B gets nothing, whether it decodes by then or is still at its prompt.
    """
    a = request_spec("A", [1] * 3, 5, priority=5)
    b = request_spec("B", [2] * prompt, 3, arrival=1, priority=0)
    engine = {"max_num_batched_tokens": 4, "scheduler_reserve_full_isl": False}
    log = simulate(scenario(a, b, num_gpu_blocks=3, policy="priority", **engine))
    assert log.frame(1).scheduled == (("A", 1, 3), ("B", 3, 0))
    assert log.frame(2).scheduled == ()
    assert log.frame(2).running == ("B",)
    assert log.frame(3).scheduled[0] == ("B", next_chunk, 3)


@pytest.mark.parametrize(
    ("ignore_eos", "end"), [(True, (FinishReason.LENGTH, -1)), (False, (FinishReason.STOP, -1))]
)
def test_eos_as_the_last_token_of_all(scenario, request_spec, ignore_eos, end):
    outputs = {"output_token_ids": (7, 0), "ignore_eos": ignore_eos}
    log = simulate(scenario(request_spec("A", [1], 2, **outputs), eos_token_id=0))
    row = log.columns["kind"].tolist().index(EventKind.FINISH)
    assert (log.columns["a"][row], log.columns["b"][row]) == end


def test_identical_prompt_still_computes_its_last_block(scenario, request_spec):
    a = request_spec("A", [1] * 8, 1)
    b = request_spec("B", [1] * 8, 1, arrival=1)
    log = simulate(scenario(a, b))
    assert log.frame(1).scheduled == (("B", 4, 4),)
    assert log.frame(1).requests["B"].block_table == (1, 3)
    prefix = log.frame(1).prefix_id.tolist()
    assert prefix[3] == prefix[2] >= 0  # two blocks, one prefix: neither is dropped


def test_salt_and_lora_of_one_name_are_different_prefixes(scenario, request_spec):
    plain = request_spec("A", [1] * 9, 1)
    salted = request_spec("B", [1] * 9, 1, cache_salt="x")
    adapted = request_spec("C", [1] * 9, 1, lora_name="x")
    log = simulate(scenario(plain, salted, adapted, num_gpu_blocks=12, max_num_batched_tokens=64))
    assert rows(log, EventKind.TOUCH) == []


def test_request_that_outgrows_the_pool_stalls_the_run_and_says_so(scenario, request_spec):
    a = request_spec("A", [1] * 6, 20)
    for gate in (True, False):
        log = simulate(scenario(a, num_gpu_blocks=4, scheduler_reserve_full_isl=gate))
        assert log.stalled
        assert log.frame(log.num_steps - 1).requests["A"].num_preemptions >= 1


def test_request_that_never_fits_blocks_the_queue_and_stalls(scenario, request_spec):
    big, small = request_spec("A", [1] * 20, 1), request_spec("B", [1], 1)
    log = simulate(scenario(big, small, num_gpu_blocks=4))
    assert log.stalled
    assert log.frame(log.num_steps - 1).waiting == ("A", "B")
    assert log.num_steps == 3


def test_idle_time_is_jumped_over(scenario, request_spec):
    a = request_spec("A", [1], 1)
    b = request_spec("B", [1], 1, arrival=1_000_000)
    log = simulate(scenario(a, b))
    assert log.columns["engine_step"].tolist() == [0, 1, 1_000_000, 1_000_001]


def test_a_prompt_of_a_billion_tokens_is_refused_in_no_time(scenario):
    huge = RequestSpec("A", 0, HashedPrompt((7,) * 20_000, 50_000, 10**9 - 2), 1)
    engine = {"block_size": 1, "max_model_len": 10**9, "max_num_batched_tokens": 10**9}
    log = simulate(scenario(huge, **engine))
    assert log.stalled
    assert log.columns["b"][log.columns["kind"] == EventKind.ALLOC_FAILED][0] == 10**9 - 2 - 7


def test_a_run_that_lasts_longer_than_a_log_can_say_is_refused(scenario, request_spec):
    """6 million ticks a step: the 334th step would begin past 2,000,000,000."""
    slow = StepTime(60_000.0, 0.0, 0.0, tick_ms=0.01)
    run = scenario(request_spec("A", [1], 400), step_time=slow, max_model_len=999)
    with pytest.raises(ScenarioError, match="the run lasts more than 2,000,000,000 steps or ticks"):
        simulate(replace(run, num_gpu_blocks=200))
    assert simulate(replace(run, num_gpu_blocks=200, step_time=None)).num_steps == 401


def test_progress_can_end_a_run(scenario, request_spec):
    specs = [request_spec(f"r{i}", [1, 2, 3], 20) for i in range(200)]
    seen = []

    def stop(finished, total):
        seen.append((finished, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(scenario(*specs, max_num_seqs=2), stop)
    assert len(seen) == 1
    assert 0 < seen[0][0] < seen[0][1] == 200


PROGRAM = """
import hashlib, json, sys
from pathlib import Path
from sim.conformance import load
from sim.scenario import Scenario
from sim.simulate import simulate
from sim.step_time import StepTime
digest = hashlib.sha256()
for path in sorted(Path("tests/golden").glob("tiny_1*.json.gz")):
    digest.update(simulate(Scenario.from_json(load(path)["scenario"])).to_bytes())
print(digest.hexdigest())
"""


def test_same_scenario_gives_the_same_bytes_in_any_process(root):
    digests = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=root,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "random")
    }
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64
