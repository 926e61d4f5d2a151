"""The frames rebuilt from the log are the states that the engine really had."""

import numpy as np
import pytest
from hypothesis import given, settings

from sim.event_log import EventLog
from sim.simulate import Run, simulate
from tests.sim.strategies import scenarios


def live_state(run):
    scheduler = run.scheduler
    pool = scheduler.kv_cache_manager.block_pool
    prefix_of = pool.prefix_of
    held = scheduler.unfinished
    return {
        "running": [r.spec.id for r in scheduler.running.requests],
        "waiting": [r.spec.id for r in scheduler.waiting],
        "tables": {r.spec.id: tuple(r.block_table) for r in held},
        "computed": {r.spec.id: r.num_computed_tokens for r in held},
        "tokens": {r.spec.id: r.num_tokens for r in held},
        "ref_cnt": pool.ref_cnt,
        "free": list(pool.free_block_queue),
        "prefix": [prefix_of.get(b, -1) for b in range(pool.num_blocks)],
    }


def frame_state(frame):
    requests = frame.requests.values()
    return {
        "running": list(frame.running),
        "waiting": list(frame.waiting),
        "tables": {r.request_id: r.block_table for r in requests},
        "computed": {r.request_id: r.num_computed_tokens for r in requests},
        "tokens": {r.request_id: r.num_tokens for r in requests},
        "ref_cnt": frame.ref_cnt.tolist(),
        "free": frame.free_queue.tolist(),
        "prefix": frame.prefix_id.tolist(),
    }


@settings(max_examples=150, deadline=None)
@given(scenarios())
def test_every_frame_is_the_state_the_engine_had(scenario):
    run = Run(scenario)
    more = True
    while more:
        steps = run.num_steps
        more = run.advance()
        if run.num_steps > steps:
            log = EventLog(scenario, run.log.columns(), stalled=False)
            assert frame_state(log.frame(steps, "update")) == live_state(run)
            run.scheduler.kv_cache_manager.block_pool.check()


@settings(max_examples=150, deadline=None)
@given(scenarios())
def test_invariants_hold_at_every_step(scenario):
    log = simulate(scenario)
    for step in range(log.num_steps):
        frame = log.frame(step)
        free, owners = frame.free_queue.tolist(), frame.owners
        assert sorted(free) == [b for b in range(1, len(frame.ref_cnt)) if not frame.ref_cnt[b]]
        assert len(free) + len(owners) + 1 == scenario.num_gpu_blocks
        assert {b: len(who) for b, who in owners.items()} == {
            b: n for b, n in enumerate(frame.ref_cnt.tolist()) if n
        }
        assert (frame.fill[frame.prefix_id >= 0] == scenario.block_size).all()
        assert frame.prefix_id[0] == -1
        assert len(set(frame.slot_mapping.tolist())) == len(frame.slot_mapping)
        assert (frame.slot_mapping >= scenario.block_size).all()


@settings(max_examples=150, deadline=None)
@given(scenarios())
def test_a_finished_run_leaves_every_block_free(scenario):
    log = simulate(scenario)
    last = log.frame(log.num_steps - 1, "update")
    if not log.stalled:
        assert len(last.free_queue) == scenario.num_gpu_blocks - 1
        assert last.requests == {}
    else:
        assert last.requests


@settings(max_examples=60, deadline=None)
@given(scenarios())
def test_log_survives_its_file(scenario):
    log = simulate(scenario)
    again = EventLog.from_bytes(log.to_bytes())
    assert again.scenario == scenario
    assert again.stalled == log.stalled
    assert {k: v.tolist() for k, v in again.columns.items()} == {
        k: v.tolist() for k, v in log.columns.items()
    }


def test_a_step_that_was_not_run_is_refused(scenario, request_spec):
    log = simulate(scenario(request_spec("A", [1, 2, 3], 1)))
    assert log.num_steps == 2
    for step in (-1, 2):
        with pytest.raises(IndexError, match=f"step {step} of a run of 2 steps"):
            log.frame(step)


def test_frame_by_hand(scenario, request_spec):
    """A takes 1 and 2; B shares 1; A ends and block 1 stays with B."""
    a = request_spec("A", [1, 2, 3, 4, 5], 2)
    b = request_spec("B", [1, 2, 3, 4, 9, 9], 4, arrival=1)
    log = simulate(scenario(a, b))
    first, second, third = (log.frame(i) for i in range(3))
    assert first.scheduled == (("A", 5, 0),)
    assert first.slot_mapping.tolist() == [4, 5, 6, 7, 8]
    assert first.free_queue.tolist() == [3, 4, 5, 6, 7]
    assert second.scheduled == (("A", 1, 5), ("B", 2, 4))
    assert second.block_tables == [[1, 2], [1, 3]]
    assert second.seq_lens == [6, 6]
    assert second.owners[1] == ("A", "B")
    assert second.fill.tolist() == [0, 4, 2, 2, 0, 0, 0, 0]
    assert second.num_common_prefix_blocks == 1
    assert third.running == ("B",)
    assert third.ref_cnt.tolist() == [0, 1, 0, 1, 0, 0, 0, 0]
    assert third.free_queue.tolist() == [2, 4, 5, 6, 7]
    assert third.prefix_id.tolist() == [-1, 1, -1, -1, -1, -1, -1, -1]
    assert np.array_equal(log.frame(log.num_steps - 1).free_queue[-2:], [3, 1])
