"""A synthetic load: the same seed gives the same requests, and they are what was asked for."""

from dataclasses import replace
from statistics import median

from sim.load import COMMON, Load, requests_of

LOAD = Load(num_requests=400, rate=0.5, prompt=100, output=40, shared=64)


def test_a_seed_is_a_load():
    assert requests_of(LOAD, 4096) == requests_of(LOAD, 4096)
    assert requests_of(LOAD, 4096) != requests_of(replace(LOAD, seed=2), 4096)


def test_rate_and_medians_are_about_those_asked_for():
    requests = requests_of(LOAD, 4096)

    assert 0.4 < len(requests) / requests[-1].arrival_step < 0.6
    assert 90 < median(r.prompt.num_tokens for r in requests) - 64 < 110
    assert 36 < median(r.max_tokens for r in requests) < 44


def test_no_rate_is_all_at_once_and_no_spread_is_all_alike():
    requests = requests_of(replace(LOAD, rate=0.0, spread=0.0), 4096)

    assert {(r.arrival_step, r.prompt.num_tokens, r.max_tokens) for r in requests} == {(0, 164, 40)}


def test_the_shared_tokens_are_the_same_and_no_others():
    first, second = requests_of(LOAD, 4096)[:2]

    assert first.prompt.content(0, 64) == second.prompt.content(0, 64) == ((COMMON, 0, 64),)
    assert not set(first.prompt.content(64, 80)) & set(second.prompt.content(64, 80))
    alone = requests_of(replace(LOAD, shared=0), 4096)
    assert alone[0].prompt.content(0, 16) != alone[1].prompt.content(0, 16)


def test_requests_fit_max_model_len():
    requests = requests_of(LOAD, 120)

    assert max(r.prompt.num_tokens for r in requests) == 119
    assert all(r.prompt.num_tokens + r.max_tokens <= 120 for r in requests)
