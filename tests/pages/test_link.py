"""A link is a state: it gives back the very scenario, and nonsense is answered in one sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.ui.examples import EXAMPLES
from pages.ui.link import MAX_CHARS, decode, decode_scenario, encode, encode_scenario
from pages.ui.request_table import sized_request
from sim.checked import ScenarioError
from sim.scenario import Scenario

rows = st.tuples(st.integers(1, 40), st.integers(0, 40), st.integers(1, 9), st.integers(0, 5)).map(
    lambda row: (row[0], min(row[1], row[0]), *row[2:])
)


def answered(text):
    """Is it a scenario, or a sentence why not?"""
    try:
        return isinstance(decode_scenario(text), Scenario)
    except ScenarioError as error:
        return str(error).endswith(".")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_an_example_survives_its_link(example):
    assert decode_scenario(encode_scenario(example.scenario)) == example.scenario


@given(sizes=st.lists(rows, max_size=6), block_size=st.integers(1, 128), caching=st.booleans())
def test_any_scenario_survives_its_link(sizes, block_size, caching):
    requests = tuple(sized_request(f"r{i}", *row) for i, row in enumerate(sizes))
    scenario = Scenario(9, block_size, requests, enable_prefix_caching=caching)

    assert decode_scenario(encode_scenario(scenario)) == scenario


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x), max_leaves=8))
def test_link_text_needs_no_escaping(data):
    text = encode({"data": data})

    assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert decode(text) == {"data": data}


@given(st.text())
def test_nonsense_is_answered(text):
    with pytest.raises(ScenarioError):
        decode_scenario(text)


@given(st.data())
def test_a_changed_link_is_answered_or_is_a_scenario(data):
    text = encode_scenario(EXAMPLES[0].scenario)
    at = data.draw(st.integers(0, len(text) - 1))
    changed = text[:at] + data.draw(st.sampled_from("Aa0_-%")) + text[at + 1 :]
    assert answered(changed)


@given(
    st.sampled_from([*EXAMPLES[1].scenario.to_json(), "aborts", "resets", "watermark"]),
    st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x), max_leaves=4),
)
def test_a_wrong_value_is_answered_or_is_a_scenario(name, value):
    assert answered(encode({**EXAMPLES[1].scenario.to_json(), name: value}))


def test_a_link_that_unfolds_to_megabytes_is_not_unfolded():
    text = encode({"a": "b" * 11_000_000})

    assert len(text) < MAX_CHARS
    with pytest.raises(ScenarioError, match="cannot be read"):
        decode(text)


def test_a_long_link_is_refused_unread():
    with pytest.raises(ScenarioError, match="16,001 characters"):
        decode("A" * (MAX_CHARS + 1))
