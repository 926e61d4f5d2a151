"""The Prefix sharing page as a script: examples, links, controls at their ends, nonsense."""

import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.prompt_examples import PROMPT_EXAMPLES
from pages.ui.prompts import BLOCK_SIZES, MAX_OUTPUTS, MAX_WORDS, POOLS, Prompt, scenario_of
from sim.checked import ScenarioError
from sim.columns import unpack

PAGE = Path(__file__).parents[2] / "pages" / "prefix_sharing.py"
ONE_WORD, EVICTION, ONE_STEP = PROMPT_EXAMPLES


def opened(**address):
    app = AppTest.from_file(PAGE, default_timeout=60)
    for name, value in address.items():
        app.query_params[name] = value
    return checked(app.run())


def checked(app):
    assert not app.exception
    return app


def header(app):
    return unpack(app.get("bidi_component")[0].proto.bytes.rpartition(b'{"key"')[0])[0]


def on_screen(app):
    return app.session_state["on_screen"]


def complaints(app):
    return [m.value.replace("\\", "") for m in app.markdown if ":material/error:" in m.value]


def area(app, id):
    return app.text_area(f"one-word.{id}")


@pytest.mark.parametrize("example", PROMPT_EXAMPLES, ids=lambda example: example.slug)
def test_each_example_opens_at_the_step_that_shows_it(example):
    app = opened(example=example.title)

    assert on_screen(app)["scenario"] == example.scenario
    assert on_screen(app)["step"] == example.step
    assert on_screen(app)["page"] == "Prefix sharing"
    assert header(app)["view"] == {"request": example.request, "block": example.block}
    assert complaints(app) == []


def test_what_the_examples_promise():
    found = {
        (example.slug, lookup["request"]): lookup["summary"]
        for example in PROMPT_EXAMPLES
        for lookup in header(opened(example=example.title))["lookups"]
    }
    assert found == {
        ("one-word", 0): "nothing to hit yet",
        ("one-word", 1): "8 of 16 tokens hit",
        ("one-word", 2): "12 of 16 tokens hit",
        ("one-word", 3): "0 of 16 tokens hit",
        ("eviction", 0): "nothing to hit yet",
        ("eviction", 1): "0 of 16 tokens hit",
        ("eviction", 2): "8 of 16 tokens hit",
        ("eviction", 3): "8 of 16 tokens hit",
        ("one-step", 0): "nothing to hit yet",
        ("one-step", 1): "12 of 16 tokens hit",
        ("one-step", 2): "12 of 16 tokens hit",
    }


def test_another_example_starts_at_its_own_step():
    app = opened(step="9", request="C", block="1")
    assert on_screen(app)["step"] == 9
    app.selectbox("example").set_value(EVICTION.title)
    checked(app.run())

    assert on_screen(app)["scenario"] == EVICTION.scenario
    assert on_screen(app)["step"] == EVICTION.step
    assert "request" not in app.query_params


def test_a_link_restores_words_settings_and_place():
    app = opened(
        **{"one-word.B": "You are kind", "one-word.block_size": "2", "one-word.blocks": "40"},
        **{"one-word.D.salt": "", "one-word.A.answer": "3", "one-word.B.comes": "5"},
        **{"step": "6", "request": "B", "block": "0"},
    )
    scenario = on_screen(app)["scenario"]
    a, b, _, d = scenario.requests

    assert (scenario.block_size, scenario.num_gpu_blocks) == (2, 40)
    assert header(app)["prompts"][1] == ["You", "are", "kind"]
    assert (a.max_tokens, b.arrival_step, d.cache_salt) == (3, 5, None)
    assert on_screen(app)["step"] == 6
    assert app.get("bidi_component")[0].proto.bytes.endswith(b'"request": "B", "block": 0}')


def test_fewer_prompts_and_more():
    app = opened(**{"one-word.prompts": "2"})
    assert [spec.id for spec in on_screen(app)["scenario"].requests] == ["A", "B"]
    app = opened(example=ONE_STEP.title, **{"one-step.prompts": "4"})
    assert [spec.id for spec in on_screen(app)["scenario"].requests] == ["A", "B", "C", "D"]


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
@pytest.mark.parametrize("blocks", [30, POOLS[1]])
def test_both_ends_of_the_sliders(block_size, blocks):
    app = opened()
    app.slider("one-word.block_size").set_value(block_size)
    app.slider("one-word.blocks").set_value(blocks)
    checked(app.run())

    scenario = on_screen(app)["scenario"]
    assert (scenario.block_size, scenario.num_gpu_blocks) == (block_size, blocks)
    assert complaints(app) == []


def test_a_pool_too_small_is_answered_and_the_last_run_stays():
    app = opened()
    app.slider("one-word.blocks").set_value(POOLS[0])
    checked(app.run())

    assert complaints(app) == [
        "**:material/error: A needs 6 blocks for its 22 tokens, and a pool of 4 has 3 to give: "
        "7 would do, or larger blocks.**"
    ]
    assert on_screen(app)["scenario"] == ONE_WORD.scenario


def test_the_smallest_pool_that_would_do_does():
    app = opened(**{"one-word.blocks": "7"})
    assert complaints(app) == []
    assert header(app)["num_steps"] > 13


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", "B has 0 words; 1 to 64 would do."),
        (" \n ", "B has 0 words; 1 to 64 would do."),
        ("w " * 65, "B has 65 words; at most 64 words in 1,000 signs would do here."),
        ("w" * 1_001, "B has 1,001 signs; at most 64 words in 1,000 signs would do here."),
    ],
)
def test_a_prompt_that_will_not_do_is_answered_below_it(text, answer):
    app = opened()
    area(app, "B").set_value(text)
    checked(app.run())

    assert complaints(app) == [f"**:material/error: {answer}**"]
    assert on_screen(app)["scenario"] == ONE_WORD.scenario


def test_a_link_with_a_prompt_that_will_not_do_shows_the_example():
    app = opened(**{"one-word.A": ""})
    assert complaints(app) == ["**:material/error: A has 0 words; 1 to 64 would do.**"]
    assert on_screen(app)["scenario"] == ONE_WORD.scenario


def test_a_salt_of_any_length_is_answered():
    app = opened(**{"one-word.D.salt": "s" * 25})
    assert complaints(app) == [
        "**:material/error: D's salt has 25 signs; at most 24 would do here.**"
    ]


@pytest.mark.parametrize(
    "address",
    [
        {"example": "nonsense"},
        {"step": "-1"},
        {"step": "99999999999999999999"},
        {"step": "x"},
        {"request": "Z", "block": "1"},
        {"request": "AB", "block": "1"},
        {"request": "A", "block": "1e9"},
        {"one-word.block_size": "0"},
        {"one-word.block_size": "4.5"},
        {"one-word.blocks": "1000000000"},
        {"one-word.prompts": "9"},
        {"one-word.A.comes": "nan"},
    ],
)
def test_nonsense_in_a_link_leaves_the_example(address):
    app = opened(**address)
    assert on_screen(app)["scenario"] == ONE_WORD.scenario
    assert on_screen(app)["step"] == ONE_WORD.step
    assert complaints(app) == []


def test_a_number_out_of_its_limits_is_answered_and_leaves_the_example():
    app = opened(**{"one-word.A.answer": "-3"})
    assert on_screen(app)["scenario"] == ONE_WORD.scenario
    assert complaints(app) == [
        "**:material/error: answer, tokens is -3; 1 to 32 tokens would do here.**"
    ]


def test_words_of_any_kind_are_simulated():
    app = opened()
    area(app, "A").set_value("**bold** `code` <script>alert(1)</script> $x$ :red[x] 日本 😀")
    checked(app.run())

    assert complaints(app) == []
    assert header(app)["prompts"][0][:6] == ["*", "*", "bold", "*", "*", "`"]


def test_the_longest_prompts_in_the_smallest_blocks():
    longest = " ".join(f"w{k}" for k in range(MAX_WORDS))
    prompts = [Prompt(longest, 0, MAX_OUTPUTS)] * 4
    with pytest.raises(ScenarioError, match="A needs 95 blocks for its 95 tokens"):
        scenario_of("test", prompts, 1, POOLS[1])
    assert scenario_of("test", prompts, 2, POOLS[1]).max_model_len > MAX_WORDS + MAX_OUTPUTS


def test_a_committed_step_moves_tables_and_address():
    app = opened()
    app.session_state["prefix.one-word"] = {"step": 12, "request": "C", "block": 3}
    checked(app.run())

    assert on_screen(app)["step"] == 12
    assert app.query_params["step"] == "12"
    assert (app.query_params["request"], app.query_params["block"]) == ("C", "3")
    assert app.dataframe[0].value.empty
    assert len(app.dataframe[2].value) == 23


def test_the_same_prompts_send_the_same_bytes():
    """Other bytes would make the browser load the log again, in the middle of playing."""
    app = opened()
    first = app.get("bidi_component")[0].proto.bytes
    app.session_state["prefix.one-word"] = {"step": 2, "request": "B", "block": 1}
    checked(app.run())

    assert app.get("bidi_component")[0].proto.bytes == first


def test_torch_is_not_imported():
    modules = "sys, pages.ui.prefix_stage, pages.ui.prompt_controls"
    command = [sys.executable, "-c", f"import {modules}; print('torch' in sys.modules)"]
    done = subprocess.run(command, cwd=PAGE.parents[1], capture_output=True, text=True)
    assert done.stdout == "False\n"
