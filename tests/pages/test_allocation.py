"""The Allocation page as a script: what it opens with, links, controls at their ends."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.examples import EXAMPLES
from pages.ui.link import decode_scenario, encode_scenario
from pages.ui.request_table import sized_request
from tests.pages.allocation_app import (
    PAGE,
    address,
    checked,
    complaints,
    control,
    opened,
    shown,
    text,
)

LESSON = EXAMPLES[0].scenario

# --- what it opens with ---------------------------------------------------------------------------
LATE = (sized_request("late", 3, 0, 2, 1_000_001),)


def test_it_opens_with_the_lesson_at_its_last_token():
    app = opened()

    assert address(app) == {"scenario": "lesson", "step": "3"}
    assert "**Why token 5 of A is in slot 5**" in text(app)
    assert "5 // 4 = 1  →  block_table[1] = 1" in text(app)
    assert app.dataframe[0].value["block table"].tolist() == ["3 1"]


def test_the_player_gets_the_log_and_the_baseline():
    header, columns = shown(opened())

    assert header["stage"] == "pool"
    assert header["view"] == {"reserve": 16}
    assert columns["cont_reserved"].tolist() == [16, 16, 16, 16, 16]
    assert len(columns["schedule_end"]) == header["num_steps"] == 5


def test_what_is_on_screen_is_there_for_other_pages():
    app = opened(scenario="two-chats", step="4")

    assert app.session_state["on_screen"] == {
        "scenario": EXAMPLES[1].scenario,
        "step": 4,
        "page": "Allocation",
    }


# --- links ----------------------------------------------------------------------------------------


def test_a_link_restores_scenario_step_request_and_token():
    scenario = replace(EXAMPLES[3].scenario, block_size=3, max_num_seqs=3)
    link = {"scenario": encode_scenario(scenario), "step": "7", "request": "r1", "token": "6"}
    app = opened(**link)

    assert address(app) == link
    assert control(app.slider, "Block size").value == 3
    assert control(app.number_input, "Requests at once").value == 3
    assert "**Why token 6 of r1 is in slot" in text(app)


def test_changing_a_control_makes_a_new_link():
    app = opened(scenario="two-chats")
    control(app.slider, "Block size").set_value(7)
    control(app.toggle, "Prefix caching").set_value(False)
    checked(app.run())

    link = decode_scenario(address(app)["scenario"])
    assert link == replace(EXAMPLES[1].scenario, block_size=7, enable_prefix_caching=False)


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"scenario": "no such thing"}, "it was cut or changed"),
        ({"scenario": "lesson", "step": "-1"}, "the step in this link is '-1'"),
        ({"scenario": "lesson", "token": "x"}, "the token in this link is 'x'"),
        ({"scenario": "lesson", "trace": "abc"}, "cannot be read"),
        (
            {"scenario": encode_scenario(replace(LESSON, block_size=257))},
            "block\\_size is 257; 1 to 256 tokens would do here",
        ),
        (
            {"scenario": encode_scenario(replace(LESSON, requests=LATE))},
            "arrives at step 1,000,001; at most 1,000,000 would do here",
        ),
        (
            {"scenario": encode_scenario(replace(LESSON, num_gpu_blocks=100_001))},
            "num\\_gpu\\_blocks is 100,001; 2 to 100,000 blocks would do here",
        ),
    ],
)
def test_a_wrong_link_is_answered_in_one_sentence(link, sentence):
    app = opened(**link)

    assert len(complaints(app)) == 1
    assert sentence in complaints(app)[0]
    assert "**Why token 5 of A is in slot 5**" in text(app)


def test_a_step_past_the_end_is_the_last_one():
    assert address(opened(scenario="lesson", step="999"))["step"] == "4"


def test_every_example_can_be_chosen():
    app = opened()
    for example in (*EXAMPLES[1:], EXAMPLES[0]):
        control(app.selectbox, "Scenario").select(example.title)
        checked(app.run())

        assert address(app) == {"scenario": example.slug, "step": str(example.step)}
        assert example.shows in text(app)


# --- controls at their ends -----------------------------------------------------------------------


@pytest.mark.parametrize("block_size", [1, 256])
@pytest.mark.parametrize("blocks", [2, 100_000])
def test_sliders_at_both_ends(block_size, blocks):
    app = opened(scenario="too-small")
    control(app.slider, "Block size").set_value(block_size)
    control(app.number_input, "Physical blocks").set_value(blocks)
    checked(app.run())

    assert shown(app)[0]["scenario"]["num_gpu_blocks"] == blocks


def test_a_pool_that_can_never_do_is_said_to_be_too_small():
    app = opened(scenario="too-small", step="0")
    control(app.number_input, "Physical blocks").set_value(3)
    checked(app.run())

    assert "r0 needs 4 blocks, more than the 2 there are" in complaints(app)[0]


def test_a_wrong_combination_is_answered_and_the_last_run_stays():
    app = opened(scenario="two-chats")
    control(app.number_input, "Longest request, tokens").set_value(20)
    checked(app.run())

    assert "at most 19 would do" in complaints(app)[0]
    assert address(app)["scenario"] == "two-chats"


@pytest.mark.parametrize("blocks", [1, -7, 100_001, 99_999_999_999])
def test_a_number_out_of_its_limits_is_answered_and_the_last_run_stays(blocks):
    app = opened(scenario="two-chats")
    control(app.number_input, "Physical blocks").set_value(blocks)
    checked(app.run())

    assert complaints(app) == [
        f"**:material/error: Physical blocks is {blocks:,}; 2 to 100,000 blocks would do here.**"
    ]
    assert shown(app)[0]["scenario"]["num_gpu_blocks"] == 24


def test_waste_stands_beside_what_paging_replaced():
    """Paged, A holds blocks 3 and 1: 8 slots, 6 with a token and none to come.

    Max: C has all 16 slots, after B and before D and A. Pow2: A has 8, since B and D left them.
    Oracle: A entered at once, and has all its 6 tokens in a piece of 8.
    """
    app = opened(scenario="lesson", step="3")
    rows = app.dataframe[1].value.drop(columns="held but empty").values.tolist()

    assert rows == [
        ["paged, blocks of 4", 1, 8, 6, 0, 2, 0],
        ["Orca (Max)", 1, 16, 3, 1, 12, 0],
        ["Orca (Pow2)", 1, 8, 5, 1, 2, 0],
        ["Orca (Oracle)", 1, 6, 6, 0, 0, 2],
    ]
    assert app.dataframe[1].value["held but empty"].tolist() == [25.0, 81.25, 37.5, 0.0]


def test_who_can_never_run_is_named():
    """The lesson's pool has 16 slots; every piece for 17 tokens would have 32."""
    app = opened(scenario=encode_scenario(replace(LESSON, max_model_len=17)))
    notes = [note.value for note in app.caption if "Orca (Max): B needs" in note.value]

    assert len(notes) == 1
    assert "Orca (Max): B needs a larger piece than there is among the 16 slots" in notes[0]
    assert "Orca (Pow2): " not in notes[0]


# --- what is opened below -------------------------------------------------------------------------


def opened_part(name, **link):
    app = AppTest.from_file(PAGE, default_timeout=60)
    app.session_state[name] = True
    for key, value in link.items():
        app.query_params[key] = value
    return checked(app.run())


def charts(app):
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def test_shares_of_the_run_are_read_before_anything_is_opened():
    """Paged, steps 0 to 3 hold 12, 12, 12 and 8 slots with 6, 10, 9 and 6 tokens: 13 of 44 empty.

    B, C and D have 2 tokens each; B and C 3 beside the 4 of A; C 4 and A 5; A 6.
    """
    app = opened()

    assert charts(app) == []
    assert "over the run**: Paged 29.5\u00a0%, Orca (Oracle)" in text(app)


def test_waste_over_the_run_is_drawn_when_it_is_opened():
    app = opened_part("allocation.waste", scenario="two-chats", step="5")
    (chart,) = charts(app)

    assert [shape["x0"] for shape in chart["layout"]["shapes"]] == [6] * 8
    assert "Paged" in chart["layout"]["annotations"][0]["text"]
    assert "When the paged run ends, there are still to be done" in text(app)


def test_block_sizes_are_simulated_when_they_are_opened():
    """Ann stores 31 tokens, in 8 blocks of 4; Ben finds the 12 that both have."""
    app = opened_part("allocation.sizes", scenario="two-chats")

    assert len(charts(app)) == 3
    assert "the longest table has 8 entries (32 B), 12 of 39 prompt tokens are found" in text(app)
    assert "the same 92 slots" in text(app)


def test_many_tokens_are_simulated_when_the_visitor_says_so():
    long = tuple(sized_request(f"r{i}", 900, 0, 100, i) for i in range(6))
    scenario = replace(LESSON, requests=long, num_gpu_blocks=400, block_size=16, max_model_len=1024)
    app = opened_part("allocation.sizes", scenario=encode_scenario(scenario))
    assert charts(app) == []
    checked(control(app.button, "Simulate all 9 block sizes").click().run())
    assert len(charts(app)) == 3
    control(app.toggle, "Prefix caching").set_value(False)
    checked(app.run())

    assert charts(app) == []
    control(app.toggle, "Prefix caching").set_value(True)
    assert len(charts(checked(app.run()))) == 3


def test_a_picked_block_tells_its_life():
    """Step 25 of the small pool: r2 takes block 11 anew."""
    assert "life" not in text(opened(scenario="too-small"))
    app = opened(scenario="too-small", block="11")

    assert address(app)["block"] == "11"
    assert "**Block 11’s life.**" in text(app)
