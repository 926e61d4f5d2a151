"""The tokens of all requests at a row, against the frame of the row's step."""

import numpy as np
from hypothesis import given, settings

from sim.events import EventKind
from sim.prompt import TokenPrompt
from sim.scenario import Abort, RequestSpec, Scenario
from sim.simulate import simulate
from sim.verdict.num_tokens import num_tokens_before
from tests.sim.strategies import scenarios


def lookup_rows(log):
    return np.flatnonzero(log.columns["kind"] == EventKind.LOOKUP).tolist()


@settings(max_examples=50)
@given(scenarios())
def test_who_is_not_done_has_the_tokens_of_the_frame(scenario):
    log = simulate(scenario)
    for row in lookup_rows(log)[-3:]:
        found = num_tokens_before(log, row)
        step = int(np.searchsorted(log.columns["update_end"], row, side="right"))
        told = log.frame(step).requests
        expected = {index: told[r.id] for index, r in enumerate(scenario.requests) if r.id in told}
        assert {i: found[i] for i in expected} == {i: r.num_tokens for i, r in expected.items()}


def test_who_is_done_keeps_its_answer_but_for_a_token_thrown_away():
    """At step 4 D asks: A has its 3 tokens, B those of steps 0 and 1, C one of each step."""
    wanted = [("A", 0, 3), ("B", 0, 9), ("C", 0, 9), ("D", 4, 9), ("E", 9, 9)]
    specs = [
        RequestSpec(name, arrival, TokenPrompt((k,) * 4), max_tokens)
        for k, (name, arrival, max_tokens) in enumerate(wanted)
    ]
    log = simulate(Scenario(32, 4, tuple(specs), aborts=(Abort(2, "mid", ("B",)),)))
    assert num_tokens_before(log, lookup_rows(log)[3]).tolist() == [7, 6, 8, 4, 4]


def test_who_may_not_grow_keeps_what_it_has():
    """A must answer 9 tokens and has room for 4: from step 4 on it computes none."""
    a = RequestSpec("A", 0, TokenPrompt((1,) * 4), 9, min_tokens=9)
    b, c = (RequestSpec(name, k, TokenPrompt((2,) * 4), 1) for name, k in (("B", 6), ("C", 8)))
    log = simulate(Scenario(32, 4, (a, b, c), max_model_len=8, aborts=(Abort(7, "mid", ("A",)),)))
    assert [num_tokens_before(log, row)[0] for row in lookup_rows(log)] == [4, 8, 8]


def test_who_comes_back_counts_on_from_what_it_kept():
    """Five blocks: B gives way at step 5 with 9 tokens, and gets two more in steps 9 and 10."""
    a, b, c = (
        RequestSpec(name, arrival, TokenPrompt((k,) * 4), 9)
        for k, (name, arrival) in enumerate([("A", 0), ("B", 0), ("C", 11)])
    )
    log = simulate(Scenario(6, 4, (a, b, c)))
    assert num_tokens_before(log, lookup_rows(log)[-1]).tolist() == [13, 11, 4]
