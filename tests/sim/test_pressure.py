"""The columns of a run, against the frames of the same log."""

import numpy as np
import pytest
from hypothesis import given, settings

from sim import block_states
from sim.events import EventKind, LogBuilder
from sim.giving_way import giving_way
from sim.lanes import Doing, lanes
from sim.preemptions import preemptions
from sim.pressure import pressure, recomputed
from sim.replay.log_rows import LogRows
from sim.scenario import Abort
from sim.simulate import simulate
from sim.stays import Stays
from sim.waste import paged_waste
from tests.sim.strategies import scenarios

COUNTS = ("running", "waiting", "preempted_waiting", "used", "shared", "cached_free", "free")
COUNTS += ("tail_waste",)


@settings(max_examples=25, deadline=None)
@given(scenarios())
def test_every_step_reads_as_its_frame(scenario):
    log = simulate(scenario)
    columns = pressure(log, Stays(log))
    for step in range(log.num_steps):
        frame = log.frame(step)
        held = frame.ref_cnt > 0
        cached = int(((frame.prefix_id >= 0) & ~held).sum())
        waste = paged_waste(scenario, frame)
        statuses = [request.status for request in frame.requests.values()]
        assert {
            "running": len(frame.running),
            "waiting": len(frame.waiting),
            "preempted_waiting": statuses.count("PREEMPTED"),
            "used": int(held.sum()),
            "shared": int((frame.ref_cnt > 1).sum()),
            "cached_free": cached,
            "free": len(frame.free_queue) - cached,
            "tail_waste": waste.held - waste.used,
        } == {name: int(getattr(columns, name)[step]) for name in COUNTS}


@settings(max_examples=25, deadline=None)
@given(scenarios())
def test_a_lane_says_what_its_request_does_in_every_step(scenario):
    log = simulate(scenario)
    found = lanes(log, Stays(log))
    doing = np.full((len(scenario.requests), log.num_steps), -1)
    for request, what, start, stop in zip(
        found.request, found.doing, found.start, found.stop, strict=True
    ):
        assert (doing[request, start:stop] == -1).all()
        doing[request, start:stop] = what
    tokens_then = {}
    for step in range(log.num_steps):
        frame = log.frame(step)
        first = {name: position for name, _, position in frame.scheduled}
        for index, spec in enumerate(scenario.requests):
            assert doing[index, step] == _doing(frame.requests.get(spec.id), first, tokens_then)


def _doing(request, first, tokens_then):
    """What a frame says of a request; `tokens_then` keeps what it had at each admission."""
    if request is None:
        return -1
    if request.status != "RUNNING":
        return Doing.WAITING if request.status == "WAITING" else Doing.PREEMPTED
    stay = request.request_id, request.num_preemptions
    tokens = tokens_then.setdefault(stay, request.num_tokens)
    position = first.get(request.request_id, request.num_computed_tokens)
    if position >= tokens:
        return Doing.DECODE
    return Doing.RECOMPUTE if request.num_preemptions else Doing.PREFILL


def test_a_free_block_that_loses_its_hash_is_no_longer_cached():
    """r0 takes blocks 1 and 2, both get a hash, both are let go, 2 is evicted where it is."""
    log = LogBuilder()
    log.record(EventKind.TAKE, 0, payload=[1, 2])
    log.record(EventKind.CACHE, 0, 0, 2, [1, 2, 10, 11])
    log.record(EventKind.RELEASE, 0, 0, 2, [2, 1])
    log.record(EventKind.EVICT, -1, payload=[2])
    log.end_step(0, 0, 4)
    states = block_states.block_states(LogRows(log.columns(), 0, 4), 4)

    assert states.used.tolist() == [2, 2, 0, 0]
    assert states.cached_free.tolist() == [0, 0, 2, 1]


def test_who_is_given_up_while_preempted_does_not_wait_any_more(scenario, request_spec):
    """B is preempted by A in a pool of 4 blocks, and given up in the step after."""
    a, b = request_spec("A", [1] * 6, 9), request_spec("B", [2] * 6, 9)
    log = simulate(scenario(a, b, num_gpu_blocks=5))
    (found, *_) = preemptions(log, Stays(log))
    assert (found.victim, found.asker) == ("B", "A")
    abort = Abort(found.step + 1, "before", ("B",))
    log = simulate(scenario(a, b, num_gpu_blocks=5, aborts=(abort,)))
    waits = pressure(log, Stays(log)).preempted_waiting

    assert waits[found.step : found.step + 2].tolist() == [1, 0]


@pytest.mark.parametrize("at_once", [1, 7, 50])
def test_a_log_read_in_stretches_reads_the_same(monkeypatch, scenario, request_spec, at_once):
    """Six requests, of which two share a prompt, in a pool of 7 blocks."""
    prompts = ([1, 2, 3, 4, 5], [1, 2, 3, 4, 6], [7] * 9, [8] * 3, [9] * 6, [1, 2, 3, 4, 5, 6])
    specs = [request_spec(f"r{i}", prompt, 9, i // 2) for i, prompt in enumerate(prompts)]
    log = simulate(scenario(*specs))
    whole = pressure(log, Stays(log))
    assert whole.preemptions.sum() > 0
    assert whole.shared.max() > 0
    monkeypatch.setattr(block_states, "AT_ONCE", at_once)
    parts = pressure(log, Stays(log))
    for name in ("used", "shared", "cached_free"):
        assert (getattr(parts, name) == getattr(whole, name)).all()


@settings(max_examples=25, deadline=None)
@given(scenarios())
def test_a_preemption_is_what_the_frames_around_it_show(scenario):
    log = simulate(scenario)
    stays = Stays(log)
    found = preemptions(log, stays)
    assert len(found) == pressure(log, stays).preemptions.sum()
    names = [spec.id for spec in scenario.requests]
    for preemption in found:
        frame = log.frame(preemption.step - 1)
        victim = frame.requests[preemption.victim]
        table = victim.block_table
        assert preemption.computed == victim.num_computed_tokens
        assert preemption.blocks >= len(table)
        if preemption.asker is not None:
            assert preemption.asker in frame.requests
            assert preemption.missing > 0
        if preemption.resumed is not None:
            back = log.frame(preemption.resumed)
            first = {name: position for name, _, position in back.scheduled}
            assert first[preemption.victim] == preemption.hits
            assert preemption.recomputed == max(preemption.computed - preemption.hits, 0)
    assert {p.victim for p in found} <= set(names)


@settings(max_examples=25, deadline=None)
@given(scenarios())
def test_blocks_go_where_the_frames_around_a_preemption_say(scenario):
    log = simulate(scenario)
    for found in preemptions(log, Stays(log)):
        before, after = log.frame(found.step - 1), log.frame(found.step)
        way = giving_way(log, found)
        assert len(way.to_head) == found.unhashed
        assert len(way.to_tail) == found.hashed
        assert len(way.to_head + way.to_tail + way.held) == found.blocks
        assert set(before.requests[found.victim].block_table) <= {
            *way.to_head,
            *way.to_tail,
            *way.held,
        }
        if found.asker is not None:
            asker = before.requests[found.asker]
            assert way.first_token == asker.num_computed_tokens
            assert way.needed >= found.missing > 0
            if way.taken and found.asker in after.running:
                assert len(way.taken) == way.needed
                assert set(way.taken) <= set(after.requests[found.asker].block_table)


@settings(max_examples=25, deadline=None)
@given(scenarios())
def test_tokens_are_recomputed_that_were_computed_before(scenario):
    """Whoever resumes had computed some tokens in the frame before it was preempted."""
    log = simulate(scenario)
    stays = Stays(log)
    before = {}
    for request, entry, hits, resumed, again, leave in zip(
        *(stays.request, stays.entry, stays.hits, stays.resumed, recomputed(stays), stays.leave),
        strict=True,
    ):
        assert resumed == (request in before)
        assert again == max(before.get(request, 0) - hits, 0)
        last = int(stays.steps_begun(leave)) - 1
        name = scenario.requests[request].id
        before[request] = log.frame(last).requests[name].num_computed_tokens
        assert entry < leave
