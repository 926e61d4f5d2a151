"""The Prefix sharing page as a script: examples, links, controls at their ends, nonsense."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.figures.prefix import prefix_blob
from pages.figures.prefix_text import PrefixText
from pages.ui.prompt_examples import DOCUMENTED, PROMPT_EXAMPLES
from pages.ui.prompts import BLOCK_SIZES, MAX_OUTPUTS, MAX_TOKENS, POOLS, Prompt, scenario_of
from sim.checked import ScenarioError
from sim.columns import unpack
from sim.simulate import simulate

PAGE = Path(__file__).parents[2] / "pages" / "prefix_sharing.py"
BY_SLUG = {example.slug: example for example in PROMPT_EXAMPLES}
ONE_WORD, EVICTION, ONE_STEP = (BY_SLUG[slug] for slug in ("one-word", "eviction", "one-step"))


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
        for lookup in unpack(prefix_blob(PrefixText(simulate(example.scenario)), "A", 0))[0][
            "lookups"
        ]
    }
    assert found == {
        ("one-word", 0): "nothing to hit yet",
        ("one-word", 1): "8 of 16 tokens hit",
        ("one-word", 2): "12 of 16 tokens hit",
        ("one-word", 3): "0 of 16 tokens hit",
        ("documented", 0): "nothing to hit yet",
        ("documented", 1): "8 of 14 tokens hit",
        ("documented", 2): "12 of 29 tokens hit",
        ("system", 0): "nothing to hit yet",
        ("system", 1): "8 of 13 tokens hit",
        ("system", 2): "8 of 13 tokens hit",
        ("system", 3): "8 of 12 tokens hit",
        ("chat", 0): "nothing to hit yet",
        ("chat", 1): "8 of 17 tokens hit",
        ("chat", 2): "20 of 27 tokens hit",
        ("exact", 0): "nothing to hit yet",
        ("exact", 1): "12 of 16 tokens hit",
        ("eviction", 0): "nothing to hit yet",
        ("eviction", 1): "0 of 16 tokens hit",
        ("eviction", 2): "8 of 16 tokens hit",
        ("eviction", 3): "8 of 16 tokens hit",
        ("one-step", 0): "nothing to hit yet",
        ("one-step", 1): "12 of 16 tokens hit",
        ("one-step", 2): "12 of 16 tokens hit",
        ("partial", 0): "nothing to hit yet",
        ("partial", 1): "0 of 2 tokens hit",
        ("partial", 2): "0 of 2 tokens hit",
        ("partial", 3): "8 of 15 tokens hit",
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
        ("", "B has 0 words; 1 to 128 would do."),
        (" \n ", "B has 0 words; 1 to 128 would do."),
        ("w " * 129, "B has 129 words; at most 128 words in 1,000 signs would do here."),
        ("w" * 1_001, "B has 1,001 signs; at most 128 words in 1,000 signs would do here."),
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
    assert complaints(app) == ["**:material/error: A has 0 words; 1 to 128 would do.**"]
    assert on_screen(app)["scenario"] == ONE_WORD.scenario


def test_a_salt_of_any_length_is_answered():
    app = opened(**{"one-word.D.salt": "s" * 25})
    assert complaints(app) == [
        "**:material/error: D's salt has 25 signs; at most 24 would do here.**"
    ]


@pytest.mark.parametrize(
    "address",
    [
        {"step": "-1"},
        {"step": "99999999999999999999"},
        {"step": "x"},
        {"request": "Z", "block": "1"},
        {"request": "AB", "block": "1"},
        {"request": "A", "block": "1e9"},
    ],
)
def test_nonsense_in_a_link_leaves_the_example(address):
    app = opened(**address)
    assert on_screen(app)["scenario"] == ONE_WORD.scenario
    assert on_screen(app)["step"] == ONE_WORD.step
    assert complaints(app) == []


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ({"example": "nonsense"}, ["nonsense; a title of the list"]),
        ({"one-word.tokens": "letters"}, ["letters; words, bytes, ids"]),
        ({"one-word.block_size": "0"}, ["0; 1 to 16"]),
        ({"one-word.block_size": "4.5"}, ["4.5; 1 to 16"]),
        ({"one-word.blocks": "1000000000"}, ["1000000000; 4 to 64"]),
        ({"one-word.prompts": "9"}, ["9; 2 to 4"]),
        (
            {"one-word.version": "0.27", "one-word.finish": "A, A, B, C"},
            ["0.27; 0.26.0 or before 0.26", "A, A, B, C; an order of the list"],
        ),
    ],
)
def test_a_value_that_no_control_can_have_is_answered_and_leaves_the_example(address, told):
    app = opened(**address)
    assert on_screen(app)["scenario"] == ONE_WORD.scenario
    answers = complaints(app)
    assert len(answers) == len(told)
    assert all(f"={words} would do" in answer for words, answer in zip(told, answers, strict=True))


def test_a_number_that_is_none_is_answered_and_leaves_the_example():
    app = opened(**{"one-word.A.comes": "nan"})
    assert on_screen(app)["scenario"] == ONE_WORD.scenario
    assert ["nan" in complaint for complaint in complaints(app)] == [True]


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


def drawn(app):
    """The figures below the player: the three views, and both free orders."""
    return [html.proto.body for html in app.get("html") if "chips" in html.proto.body]


def test_the_version_of_a_link_is_whose_free_order_runs():
    app = opened(**{"one-word.version": "before 0.26"})
    assert on_screen(app)["scenario"] == replace(ONE_WORD.scenario, version="before 0.26")
    assert header(app)["scenario"]["version"] == "before 0.26"
    assert "<th>Step 4</th>" in drawn(app)[1]


def test_the_documented_example_shows_its_times_until_a_prompt_is_changed():
    link = {"example": DOCUMENTED.title, "documented.version": "0.26.0", "step": "5"}
    app = opened(**link)
    assert "<tr class=now><th>Time 6 " in drawn(app)[1]
    assert drawn(app)[1].count("<th>Time ") == 6
    app.text_area("documented.B").set_value("A B C D")
    checked(app.run())
    assert "Time" not in drawn(app)[1]
    assert "<tr class=now><th>Step 5</th>" in drawn(app)[1]


def test_bytes_of_a_link():
    app = opened(**{"one-word.tokens": "bytes", "one-word.A": "é a", "one-word.bytes.blocks": "20"})
    assert header(app)["prompts"][0] == ["c3", "a9", "␣", "a"]
    scenario = on_screen(app)["scenario"]
    assert (scenario.block_size, scenario.num_gpu_blocks) == (16, 20)
    assert complaints(app) == []


def test_ids_are_typed_and_what_is_none_is_answered():
    app = opened(**{"one-word.tokens": "ids", "one-word.ids.A": "5 6, 7"})
    assert header(app)["prompts"][:2] == [
        ["5", "6", "7"],
        [*map(str, [*range(1, 9), 17, *range(10, 17)])],
    ]
    app.text_area("one-word.ids.A").set_value("5 six")
    checked(app.run())
    assert complaints(app) == [
        "**:material/error: A has 'six' for a token id; 0 to 999,999 would do.**"
    ]


def test_a_finish_order_of_a_link():
    app = opened(**{"one-word.finish": "D, C, B, A"})
    scenario = on_screen(app)["scenario"]
    assert [spec.max_tokens for spec in scenario.requests] == [8, 5, 3, 1]
    assert app.number_input("one-word.A.answer").disabled
    assert complaints(app) == []


def test_a_finish_order_that_takes_too_long_is_answered():
    app = opened(**{"one-word.finish": "A, B, C, D", "one-word.D.comes": "40"})
    assert complaints(app) == [
        "**:material/error: To end in this order A needs 41 answer tokens; at most 32 would do: "
        "let the prompts come closer together.**"
    ]
    assert on_screen(app)["scenario"] == ONE_WORD.scenario


def test_the_longest_prompts_in_the_smallest_blocks():
    longest = " ".join(f"w{k}" for k in range(MAX_TOKENS))
    prompts = [Prompt(longest, 0, MAX_OUTPUTS)] * 4
    with pytest.raises(ScenarioError, match="A needs 159 blocks for its 159 tokens"):
        scenario_of("test", prompts, 1, POOLS[1])
    assert scenario_of("test", prompts, 4, POOLS[1]).max_model_len > MAX_TOKENS + MAX_OUTPUTS


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


def told(app):
    """What the page says in its boxes, without marks."""
    return [m.value.replace("\\", "") for m in app.markdown if m.value.startswith("**")]


def test_the_life_of_a_block_that_was_evicted():
    """A is asked about as a request and its logical block, then block 4 itself, then none."""
    link = {"example": EVICTION.title, "step": "3"}
    app = opened(**link, request="A", block="3")
    why = (
        "**Why was block 4 evicted?** At step 3 B needed 4 blocks from the head of the free queue: "
        "5, 6 and 7, and this one was next. No block without a hash was left, and it had been free "
        "the longest: A gave it back at step 2, last block first, so none outlives the one before "
        "it. So “the nearest station ?” (hash 91b4) can no longer be hit, and C computes it again "
        "at step 7, into block 4."
    )
    assert told(app)[:2] == ["**Block 4’s life.** 3 steps changed it so far.", why]
    assert told(opened(**link, block="4"))[:2] == told(app)[:2]
    early = opened(**link | {"step": "2"}, block="4")
    assert why not in told(early)


@pytest.mark.parametrize("block", ["64", "99", "0"])
def test_a_block_that_is_not_there_or_never_used_is_said_to(block):
    app = opened(block=block)
    never = ["**Block 0’s life.** No request ever takes it in this run."]
    none = ["**The life of a block.** Click a block above: it has one from here on."]
    assert told(app)[:1] == (never if block == "0" else none)


def test_a_stop_costs_no_second_look(monkeypatch):
    """What is read out of a run is kept: another step asks for no verdict and no other run."""
    app = opened(example=EVICTION.title)
    asked = []
    monkeypatch.setattr("sim.verdict.verdict._Inquiry.verdicts", lambda self: asked.append(self))
    monkeypatch.setattr("pages.ui.prefix_run.simulate", asked.append)
    app.session_state["prefix.eviction"] = {"step": 3, "request": "A", "block": 3}
    checked(app.run())
    assert on_screen(app)["step"] == 3
    assert asked == []


def test_torch_is_not_imported():
    modules = "sys, pages.ui.prefix_stage, pages.ui.prompt_controls"
    command = [sys.executable, "-c", f"import {modules}; print('torch' in sys.modules)"]
    done = subprocess.run(command, cwd=PAGE.parents[1], capture_output=True, text=True)
    assert done.stdout == "False\n"
