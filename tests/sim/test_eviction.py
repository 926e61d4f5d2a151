"""Evictions: what stood in the free queue, and what was lost, by hand and against the log."""

from dataclasses import replace

import numpy as np
from hypothesis import given

from sim.block_life import Change, block_life
from sim.documented import documented_example
from sim.events import EventKind
from sim.eviction import Again, evictions
from sim.scenario import Scenario
from sim.simulate import simulate
from tests.sim.strategies import scenarios
from tests.sim.told import WORDS, spec

OTHERS = range(50, 58)


def lost(*requests, blocks=4, **settings):
    log = simulate(Scenario(blocks, 4, requests, max_model_len=64, **settings))
    return [
        (e.step, e.request, e.block, e.prefix, e.before, e.blank, e.copy, e.again)
        for e in evictions(log)
    ]


def test_the_one_left_when_no_blank_one_is():
    """B takes 3, which is blank, then A's last block; C computes that again, into what B left."""
    a, b, c = spec("A", WORDS[:8]), spec("B", OTHERS, 1, 2), spec("C", WORDS[:8], 1, 4)
    again = Again(step=4, request=2, block=2)
    assert lost(a, b) == [(2, 1, 2, 2, (3,), 0, None, None)]
    assert lost(a, b, c)[0] == (2, 1, 2, 2, (3,), 0, None, again)


def test_of_two_copies_one_is_left():
    """B computes A's last block, 2, again into 3. Free are 5 4 6 2 3 1, and D takes four."""
    a, b, d = spec("A", WORDS[:8], 2), spec("B", WORDS[:8], 2), spec("D", range(50, 66), 1, 4)
    assert lost(a, b, d, blocks=7) == [(3, 2, 2, 2, (5, 4, 6), 0, 3, None)]


def test_the_documented_example_loses_one_with_a_blank_one_behind():
    (only,) = evictions(simulate(documented_example()))
    assert (only.step, only.request, only.block) == (6, 2, 4)
    assert (only.before, only.taken, only.blank) == ((8, 9, 10, 5), 5, 1)
    assert evictions(simulate(documented_example("0.26.0"))) == []


@given(scenarios())
def test_they_are_those_of_the_blocks_lives(scenario):
    log = simulate(replace(scenario, version="0.26.0"))
    found = evictions(log)
    lives = [
        (m.row, block, m.request, m.prefix)
        for block in range(scenario.num_gpu_blocks)
        for m in block_life(log, block)
        if m.change == Change.EVICTED
    ]
    assert sorted((e.row, e.block, e.request, e.prefix) for e in found) == sorted(lives)
    takes = log.columns["kind"] == EventKind.TAKE
    assert len(found) == int(log.columns["a"][takes].sum())
    if not scenario.resets:
        assert not np.any([e.blank for e in found])


@given(scenarios())
def test_no_cached_block_outlives_the_one_before_it(scenario):
    """A request gives its last block back first, so what is left of a prefix is its start."""
    log = simulate(scenario)
    parents = {}
    for row in np.flatnonzero(log.columns["kind"] == EventKind.CACHE).tolist():
        request, first, n = (int(log.columns[name][row]) for name in ("request", "a", "b"))
        for logical, prefix in enumerate(log.payload(row)[n:].tolist(), first):
            parents[request, logical] = prefix
    before = {p: parents[r, i - 1] for (r, i), p in parents.items() if (r, i - 1) in parents}
    for step in range(log.num_steps):
        cached = set(log.frame(step).prefix_id.tolist())
        assert {before[prefix] for prefix in cached & before.keys()} <= cached
