"""A link is a state: it gives back the very scenario, and nonsense is answered in one sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from pages.ui.examples import EXAMPLES
from pages.ui.link import MAX_CHARS, decode, decode_scenario, encode, encode_scenario
from pages.ui.request_table import sized_request
from sim.checked import ScenarioError
from sim.scenario import Scenario
from tests.pages.allocation_app import checked, complaints

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


# --- values of bound controls ---------------------------------------------------------------------


def bound():
    import streamlit as st

    from pages.ui.in_link import in_link
    from pages.ui.number import whole_number

    with in_link("size", "1 to 256"):
        st.slider("Size", 1, 256, 16, key="size", bind="query-params")
    with in_link("rate", "0 to 10"):
        st.slider("Rate", 0.0, 10.0, 2.5, 0.1, key="rate", bind="query-params")
    with in_link("policy", "First or Second", shown=str.title):
        st.selectbox(
            "P", ["first", "second"], key="policy", bind="query-params", format_func=str.title
        )
    whole_number("Seed", None, (0, 9, "do"), instead=None, key="seed", bind="query-params")


def followed(**link):
    app = AppTest.from_function(bound)
    for name, value in link.items():
        app.query_params[name] = value
    return checked(app.run())


@pytest.mark.parametrize(
    ("name", "value", "would_do", "shown"),
    [
        ("size", "9999", "1 to 256", "16"),
        ("size", "-1", "1 to 256", "16"),
        ("size", "many", "1 to 256", "16"),
        ("size", "", "1 to 256", "16"),
        ("size", "20.5", "1 to 256", "20"),
        ("size", "9" * 30, "1 to 256", "16"),
        ("rate", "10.5", "0 to 10", "2.5"),
        ("policy", "third", "First or Second", "First"),
        ("seed", "lucky", "0 to 9 do", "nothing"),
    ],
)
def test_a_value_that_a_control_cannot_have_is_answered_once(name, value, would_do, shown):
    app = followed(**{name: value})

    said = f"The link says {name}={value[:24]}; {would_do} would do\\: shown with {shown}."
    assert complaints(app) == [f"**:material/error: {said}**"]
    assert complaints(checked(app.run())) == []


@pytest.mark.parametrize(
    "link",
    [
        {"size": "20"},
        {"size": "016"},
        {"rate": "2.50"},
        {"rate": "3"},
        {"policy": "Second"},
        {"policy": "First"},
        {"seed": "7"},
        {"other": "9999"},
    ],
)
def test_a_value_that_a_control_can_have_says_nothing(link):
    assert complaints(followed(**link)) == []


def test_moving_a_control_back_to_what_it_was_says_nothing():
    app = followed(size="20")
    app.slider[0].set_value(16)

    assert complaints(checked(app.run())) == []
