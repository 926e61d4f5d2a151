"""Why a block hit or missed: each reason by hand, and what must hold for any run."""

import pytest
from hypothesis import given, settings

from sim.events import EventKind
from sim.prompt import HashedPrompt, TokenPrompt
from sim.scenario import RequestSpec, Scenario
from sim.simulate import simulate
from sim.verdict import Reason, Verdict, lookups, token_ids
from tests.sim.strategies import scenarios

WORDS = tuple(range(1, 17))


def spec(name, prompt, outputs=1, arrival=0, **extra):
    answer = tuple(1_000 * ord(name) + k for k in range(outputs))
    return RequestSpec(name, arrival, TokenPrompt(tuple(prompt)), outputs, answer, **extra)


def told(*requests, blocks=32, **settings):
    """Verdicts of the last request, in blocks of 4.

    A step that only reports who finished counts too, so one that arrives at 2 in an idle engine is
    let in at step 2.
    """
    scenario = Scenario(
        num_gpu_blocks=blocks, block_size=4, requests=requests, max_model_len=64, **settings
    )
    found = [found for found in lookups(simulate(scenario)) if found.request == len(requests) - 1]
    return [verdict for lookup in found for verdict in lookup.verdicts]


def reasons(*requests, **settings):
    return [verdict.reason for verdict in told(*requests, **settings)]


def test_the_first_has_nothing_to_hit():
    assert reasons(spec("A", WORDS[:9])) == [Reason.FIRST, Reason.FIRST, Reason.NOT_FULL]


def test_one_other_token_and_all_behind_it_miss():
    b = (*WORDS[:9], 99, *WORDS[10:])
    assert told(spec("A", WORDS), spec("B", b)) == [
        Verdict(0, 1, 0, Reason.HIT, block=1, other=0, since=0),
        Verdict(0, 1, 1, Reason.HIT, block=2, other=0, since=0),
        Verdict(0, 1, 2, Reason.TOKEN, other=0, token=9),
        Verdict(0, 1, 3, Reason.PARENT, other=0),
    ]


def test_behind_a_miss_nobody_is_named_whose_tokens_are_others():
    b = (99, *WORDS[1:6], 98, *WORDS[7:])
    assert [(v.reason, v.other) for v in told(spec("A", WORDS), spec("B", b))] == [
        (Reason.TOKEN, 0),
        (Reason.PARENT, None),
        (Reason.PARENT, 0),
        (Reason.PARENT, 0),
    ]


def test_the_last_block_of_a_cached_prompt_is_held_back():
    assert told(spec("A", WORDS[:8]), spec("B", WORDS[:8], arrival=3)) == [
        Verdict(2, 1, 0, Reason.HIT, block=1, other=0, since=0),
        Verdict(2, 1, 1, Reason.HELD_BACK, block=2, other=0, since=0),
    ]


def test_a_token_more_and_it_is_not():
    assert reasons(spec("A", WORDS[:8]), spec("B", WORDS[:9])) == [
        *(Reason.HIT, Reason.HIT, Reason.NOT_FULL)
    ]


def test_another_salt_shares_nothing():
    assert [
        (v.reason, v.other)
        for v in told(spec("A", WORDS[:8]), spec("B", WORDS[:8], cache_salt="x"))
    ] == [
        (Reason.SALT, 0),
        (Reason.PARENT, 0),
    ]


def test_the_same_salt_shares():
    salted = [spec(name, WORDS[:9], cache_salt="x") for name in "AB"]
    assert reasons(spec("P", WORDS[:9]), *salted) == [Reason.HIT, Reason.HIT, Reason.NOT_FULL]


def test_of_two_like_prompts_the_one_with_the_same_salt_is_compared():
    longer = (*WORDS[:5], 99, *WORDS[6:8])
    found = told(
        spec("A", WORDS[:8]),
        spec("B", WORDS[:8], cache_salt="x"),
        spec("C", longer, cache_salt="x"),
    )
    assert found[1] == Verdict(0, 2, 1, Reason.TOKEN, other=1, token=5)


def test_a_prompt_that_ends_inside_the_block_is_said_to_end():
    found = told(spec("A", WORDS[:6]), spec("B", WORDS))
    assert found[1] == Verdict(0, 1, 1, Reason.ENDS, other=0, token=6)


def test_an_evicted_block_is_named_with_who_took_it_and_when():
    a, b, c = spec("A", WORDS[:8], 1), spec("B", range(50, 58), 1, 2), spec("C", WORDS[:8], 1, 4)
    assert told(a, b, c, blocks=4) == [
        Verdict(4, 2, 0, Reason.HIT, block=1, other=0, since=0),
        Verdict(4, 2, 1, Reason.EVICTED, block=2, other=1, since=2),
    ]


def test_a_block_evicted_as_an_answer_grows_is_dated_to_that_step():
    a, b, c = spec("A", WORDS[:8]), spec("B", range(50, 54), 5, 2), spec("C", WORDS[:8], 1, 8)
    assert told(a, b, c, blocks=4)[1].since == 3


def test_a_request_that_does_not_read_the_cache_is_told_nothing():
    assert told(spec("A", WORDS), spec("B", WORDS, skip_reading_prefix_cache=True)) == []


def test_a_prompt_without_token_ids_is_refused():
    anonymous = RequestSpec("A", 0, HashedPrompt((1,), 4, 4), 1)
    with pytest.raises(TypeError, match="A has no token ids"):
        lookups(simulate(Scenario(num_gpu_blocks=8, block_size=4, requests=(anonymous,))))


def admissions(log):
    """(request, tokens asked, tokens hit) of each, with the lookup before it."""
    columns = log.columns
    asked = {}
    for kind, request, a in zip(
        *(columns[name].tolist() for name in ("kind", "request", "a")), strict=True
    ):
        if kind == EventKind.LOOKUP:
            asked[request] = a
        elif kind == EventKind.ADMIT:
            yield request, asked[request], a


@settings(max_examples=150, deadline=None)
@given(scenarios())
def test_hits_come_first_and_are_as_many_as_the_engine_counted(scenario):
    log = simulate(scenario)
    size = scenario.block_size
    reading = [not spec.skip_reading_prefix_cache for spec in scenario.requests]
    engine = [admission for admission in admissions(log) if reading[admission[0]]]
    found = lookups(log)
    assert [(f.request, f.num_tokens, f.num_hits * size) for f in found] == engine
    for lookup in found:
        told = lookup.verdicts
        assert [v.logical for v in told] == list(range(-(-lookup.num_tokens // size)))
        assert all(v.reason is Reason.HIT for v in told[: lookup.num_hits])
        assert not any(v.reason is Reason.NOT_FULL for v in told[:-1])


@settings(max_examples=150, deadline=None)
@given(scenarios())
def test_a_differing_token_really_differs_and_nothing_before_it(scenario):
    def tokens(index):
        return token_ids(scenario.requests[index])

    for v in (v for lookup in lookups(simulate(scenario)) for v in lookup.verdicts):
        if v.reason in (Reason.TOKEN, Reason.ENDS):
            first = v.logical * scenario.block_size
            assert first <= v.token < first + scenario.block_size
            assert tokens(v.request)[: v.token] == tokens(v.other)[: v.token]
            assert tokens(v.request)[v.token] not in tokens(v.other)[v.token : v.token + 1]
        if v.reason is Reason.TOKEN:
            assert v.token < scenario.requests[v.other].prompt.num_tokens
