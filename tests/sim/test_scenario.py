import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.checked import ScenarioError
from sim.prompt import HashedPrompt, TokenPrompt
from sim.scenario import RequestSpec, Scenario
from tests.sim.strategies import scenarios


@settings(max_examples=100, deadline=None)
@given(scenarios())
def test_json_out_and_in_is_the_same_scenario(scenario):
    assert Scenario.from_json(json.loads(json.dumps(scenario.to_json()))) == scenario


def test_prompt_of_a_trace_survives_json():
    spec = RequestSpec("r0", 0, HashedPrompt((7, 8), 16, 20), 3)
    scenario = Scenario(8, 4, (spec,))
    assert Scenario.from_json(json.loads(json.dumps(scenario.to_json()))) == scenario


@given(st.integers(1, 9), st.integers(0, 40), st.integers(1, 9), st.integers(0, 3))
def test_hashed_stretches_are_equal_exactly_when_the_tokens_are(size, start, length, changed):
    """Against the tokens that the ids stand for."""
    ids = tuple(range(10))
    other = (*ids[:changed], 99, *ids[changed + 1 :])

    def tokens(block_ids):
        return [(b, k) for b in block_ids for k in range(size)][start : start + length]

    stop = min(start + length, 10 * size)
    start = min(start, stop)
    same = HashedPrompt(ids, size, 10 * size).content(start, stop) == HashedPrompt(
        other, size, 10 * size
    ).content(start, stop)
    assert same == (tokens(ids) == tokens(other))


def valid():
    request = {"id": "A", "arrival_step": 0, "prompt_token_ids": [1, 2], "max_tokens": 2}
    return {"num_gpu_blocks": 8, "block_size": 4, "max_model_len": 16, "requests": [request]}


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"block_size": 0}, "block_size", "block_size is 0; 1 to 65,536 tokens a block would do."),
        ({"num_gpu_blocks": 0}, "num_gpu_blocks", "num_gpu_blocks is 0; 1 to 10,000,000"),
        ({"num_gpu_blocks": 1.5}, "num_gpu_blocks", "num_gpu_blocks is 1.5; a whole number"),
        ({"max_num_seqs": -3}, "max_num_seqs", "max_num_seqs is -3; 1 to 1,000,000"),
        ({"max_num_batched_tokens": 0}, "max_num_batched_tokens", "max_num_batched_tokens is 0"),
        ({"policy": "lifo"}, "policy", "policy is 'lifo'; fcfs or priority would do."),
        ({"version": "0.25"}, "version", "version is '0.25'; 0.26.0 or before 0.26 would do."),
        ({"step_time": 5}, "step_time", "step_time is 5; a JSON object would do."),
        ({"step_time": {"fixed_ms": 1.0}}, "prefill_token_ms", "prefill_token_ms is missing."),
        ({"watermark": 1.0}, "watermark", "watermark is 1.0; 0 to 0.99 would do."),
        ({"enable_prefix_caching": "yes"}, "enable_prefix_caching", "true or false would do"),
        ({"requests": 7}, "requests", "requests is not a list"),
        ({"requests": [7]}, "requests", "a request is a JSON object, not 7"),
        ({"max_model_len": 2}, "requests", "A has 2 prompt tokens, and max_model_len is 2"),
    ],
)
def test_wrong_setting_is_answered_in_one_sentence(change, field, sentence):
    with pytest.raises(ScenarioError) as error:
        Scenario.from_json({**valid(), **change})
    assert error.value.field == field
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"prompt_token_ids": []}, "A has an empty prompt; 1 token would do."),
        ({"prompt_token_ids": [1, "x"]}, "prompt_token_ids is not a list of whole numbers."),
        ({"max_tokens": 0}, "A asks for 0 tokens; 1 would do."),
        ({"max_tokens": True}, "max_tokens is True; a whole number would do."),
        ({"arrival_step": -1}, "A arrives at step -1; 0 to 2,000,000,000 would do."),
        ({"id": ""}, "a request has no id"),
        ({"id": 5}, "id is 5; text would do."),
        ({"output_token_ids": [1]}, "A has 1 output_token_ids for 2 tokens"),
        ({"stop_token_ids": 3}, "stop_token_ids is not a list of whole numbers."),
    ],
)
def test_wrong_request_is_answered_in_one_sentence(change, sentence):
    data = valid()
    data["requests"][0] |= change
    with pytest.raises(ScenarioError) as error:
        Scenario.from_json(data)
    assert sentence in str(error.value)


def test_two_requests_of_one_name_are_refused():
    data = valid()
    data["requests"] *= 2
    with pytest.raises(ScenarioError, match="two requests are called 'A'"):
        Scenario.from_json(data)


@pytest.mark.parametrize("name", ["num_gpu_blocks", "block_size", "requests"])
def test_missing_setting_is_named(name):
    data = valid()
    del data[name]
    with pytest.raises(ScenarioError, match=f"{name} is missing"):
        Scenario.from_json(data)


@pytest.mark.parametrize("data", [None, [], "x", 3])
def test_something_else_is_refused(data):
    with pytest.raises(ScenarioError, match="a scenario is a JSON object"):
        Scenario.from_json(data)


def test_block_ids_must_make_the_prompt():
    request = {"id": "A", "arrival_step": 0, "max_tokens": 1, "hash_ids": [1, 2]}
    data = {**valid(), "requests": [{**request, "hash_block_size": 16, "prompt_tokens": 50}]}
    with pytest.raises(ScenarioError, match="2 block ids of 16 tokens cannot make 50 tokens"):
        Scenario.from_json(data)


def test_token_prompt_compares_by_tokens():
    assert TokenPrompt((1, 2, 3)).content(1, 3) == TokenPrompt((0, 2, 3)).content(1, 3)
