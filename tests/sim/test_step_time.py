"""The model of a step's time, the recordings it is fitted to, and the fit."""

import gzip
import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.checked import ScenarioError
from sim.simulate import simulate
from sim.step_time import StepTime
from sim.traces.mooncake import TraceError
from sim.traces.vllm_run import (
    RequestTimes,
    Second,
    fit_step_time,
    read_request_times,
    read_time_series,
)

COLUMNS = "t,prompt_throughput,gen_throughput,running,waiting,kv_cache_pct"
TENS = StepTime(fixed_ms=10, prefill_token_ms=0.5, decode_ms=0.25)


@pytest.mark.parametrize(
    ("prefill_tokens", "decodes", "ticks"),
    [(0, 4, 11), (100, 0, 60), (100, 4, 61), (0, 5, 11), (0, 7, 12), (0, 0, 1)],
)
def test_a_step_takes_its_fixed_part_and_one_for_each_token(prefill_tokens, decodes, ticks):
    assert TENS.ticks(prefill_tokens, decodes) == ticks


def test_ticks_are_of_any_length_and_at_least_one():
    assert StepTime(10, 0.5, 0.25, tick_ms=0.25).ticks(3, 1) == 47
    assert StepTime(10, 0.5, 0.25, tick_ms=1000).ticks(3, 1) == 1


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ((-1, 0, 0), "fixed_ms"),
        ((1, float("nan"), 0), "prefill_token_ms"),
        ((1, 0, 70_000), "decode_ms"),
        ((1, 0, 0, 0), "tick_ms"),
    ],
)
def test_a_number_out_of_range_is_named(values, field):
    with pytest.raises(ScenarioError, match=f"^{field} is ") as error:
        StepTime(*values)
    assert error.value.field == field


def test_the_engines_clock_counts_ticks(scenario, request_spec):
    first = request_spec("first", [1] * 8, 3)
    second = request_spec("second", [2] * 4, 2, arrival=19)
    late = request_spec("late", [3] * 4, 1, arrival=1000)
    log = simulate(scenario(first, second, late, step_time=StepTime(10, 1, 5)))
    # 8 prompt tokens; a decode; a decode and 4 prompt tokens, as 19 lies in the step before;
    # a decode; nothing but the report of who finished. Then idle until 1000.
    starts = [0, 18, 33, 33 + 19, 33 + 19 + 15, 1000, 1014]
    assert log.columns["engine_step"].tolist() == starts


def test_a_single_prompt_token_takes_as_long_as_a_decode(scenario, request_spec):
    log = simulate(scenario(request_spec("r", [1], 2), step_time=StepTime(10, 1, 5)))
    assert log.columns["engine_step"].tolist() == [0, 15, 30]


def series(step_time, count, seed):
    """Seconds that the three numbers fill exactly."""
    rng = Random(seed)
    seconds = [Second(0.0, 0.0, 0.0, 20, 0, 0.0)]
    for t in range(1, count + 1):
        running, prompts = rng.randint(1, 60), float(rng.choice([0, 0, rng.randint(0, 3000)]))
        mean = (seconds[-1].running + running) / 2
        a_step = step_time.fixed_ms + step_time.decode_ms * mean
        steps = max(1000 - prompts * step_time.prefill_token_ms, 0) / a_step
        seconds.append(Second(float(t), prompts, steps * mean, running, 0, 0.0))
    return seconds


step_times = st.builds(
    StepTime, st.floats(5, 40), st.floats(0.02, 0.25), st.floats(0.05, 0.5), st.just(1.0)
)


@settings(max_examples=30, deadline=None)
@given(step_times, st.integers(0, 10**6), st.integers(0, 9))
def test_the_fit_finds_the_step_time_behind_a_series(step_time, seed, spoiled):
    """Even when a tenth of the seconds hold work that the series does not name."""
    seconds = series(step_time, 100, seed)
    for i in range(1 + spoiled, 101, 10):
        good = seconds[i]
        seconds[i] = Second(i, good.prompt_throughput, good.gen_throughput / 2, good.running, 0, 0)
    fit = fit_step_time(seconds)
    assert fit.fixed_ms == pytest.approx(step_time.fixed_ms, rel=1e-3)
    assert fit.prefill_token_ms == pytest.approx(step_time.prefill_token_ms, rel=1e-3)
    assert fit.decode_ms == pytest.approx(step_time.decode_ms, rel=1e-3)


def test_seconds_that_are_partly_idle_are_left_out():
    seconds = series(TENS, 100, seed=1)
    pause = [Second(101, 0.0, 3.0, 0, 0, 0.0), Second(102, 9000.0, 3.0, 5, 0, 0.0)]
    assert fit_step_time([*seconds, *pause * 60]) == fit_step_time(seconds)


def test_a_series_that_cannot_tell_the_three_apart_is_refused():
    alike = [Second(t, 0.0, 400.0, 10, 0, 0.0) for t in range(50)]
    with pytest.raises(TraceError, match="the 49 busy seconds of the series are too few or too"):
        fit_step_time(alike)
    with pytest.raises(TraceError, match="the 0 busy seconds"):
        fit_step_time([])


def second(**change):
    """A time series of one good line and one with changed columns; None leaves a column out."""
    good = dict.fromkeys(COLUMNS.split(","), "2") | {"t": "1.0", "kv_cache_pct": "7.25"}
    bad = {k: v for k, v in {**good, **change}.items() if v is not None}
    return "\n".join([COLUMNS, ",".join(good.values()), ",".join(bad.values())]).encode()


def served(**change):
    good = {
        "request_id": "bench-0",
        "input_toks": 2358,
        "output_toks": 531,
        "arrival_time": 1787267980.0827403,
        "queued_ts": 27536.5,
        "scheduled_ts": 27536.75,
        "first_token_ts": 27537.0,
        "last_token_ts": 27554.25,
    }
    return json.dumps({k: v for k, v in {**good, **change}.items() if v is not None}).encode()


@pytest.mark.parametrize("wrap", [bytes, gzip.compress])
def test_a_run_is_read_line_by_line(wrap):
    first = Second(1.0, 2.0, 2.0, 2, 2, 7.25)
    assert read_time_series(wrap(second(t="2.0"))) == [first, Second(2.0, 2.0, 2.0, 2, 2, 7.25)]
    times = RequestTimes(
        "bench-0", 2358, 531, 1787267980.0827403, 27536.5, 27536.75, 27537.0, 27554.25
    )
    assert read_request_times(wrap(served() + b"\r\n\n")) == [times]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the file has no second."),
        (COLUMNS.encode(), "the file has no second."),
        (b"t,running\n1.0,4", "line 2: prompt_throughput is missing."),
        (second(kv_cache_pct=None), "line 3: kv_cache_pct is missing."),
        (second(running="2.5"), "line 3: running is '2.5'; a whole number from 0 would do."),
        (second(waiting="many"), "line 3: waiting is 'many'; a whole number from 0 would do."),
        (second(gen_throughput="-1"), "line 3: gen_throughput is '-1'; a number from 0 would do."),
        (second(t="nan"), "line 3: t is 'nan'; a number from 0 would do."),
        (b"\xff", "the file is not UTF-8 text"),
        (gzip.compress(second())[:40], "the gzip data is damaged"),
    ],
)
def test_a_bad_time_series_is_refused(data, sentence):
    with pytest.raises(TraceError) as error:
        read_time_series(data)
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\n", "the file has no request."),
        (b"{", "line 1: not JSON"),
        (b"[" * 100_000, "line 1: not JSON"),
        (served() + b"\n[1]", "line 2: a JSON object is needed, this is a list."),
        (served(queued_ts=None), "line 1: queued_ts is missing."),
        (served(input_toks=True), "line 1: input_toks is True; a whole number from 0 would do."),
        (served(output_toks=[3]), "line 1: output_toks is [3]; a whole number from 0 would do."),
        (served(arrival_time=10**400), "line 1: arrival_time is 1"),
    ],
)
def test_a_bad_request_is_refused(data, sentence):
    with pytest.raises(TraceError) as error:
        read_request_times(data)
    assert str(error.value).startswith(sentence)
