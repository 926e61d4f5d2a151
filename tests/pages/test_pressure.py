"""The Pressure page as a script: what it opens with, links, controls, buttons, a trace."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import pressure_run
from pages.ui.examples import EXAMPLES
from pages.ui.pressure_examples import PRESSURE_EXAMPLES
from sim.columns import unpack
from tests.pages.allocation_app import address, checked, complaints, control, text
from tests.pages.test_trace_upload import trace

PLAYER, PLAYHEAD = "pagedattention.player", "pagedattention.playhead"
PAGE = Path(__file__).parents[2] / "pages" / "pressure.py"


def shown(app):
    """Header and columns of what the player got."""
    (found,) = [c for c in app.get("bidi_component") if c.proto.component_name == PLAYER]
    return unpack(found.proto.bytes)


def words(app):
    return "\n".join(element.proto.body for element in app.get("html"))


def opened(**link):
    app = AppTest.from_file(PAGE, default_timeout=60)
    for name, value in link.items():
        app.query_params[name] = value
    return checked(app.run())


@pytest.mark.parametrize("example", PRESSURE_EXAMPLES, ids=lambda example: example.slug)
def test_every_example_opens_at_a_preemption(example):
    app = opened(pressure=example.title)

    assert address(app)["step"] == str(example.step)
    assert f"<b>Step {example.step}.</b> Pool full." in words(app)
    assert "loses its place" in words(app)
    assert example.shows in text(app)
    assert not complaints(app)


def test_the_player_gets_the_same_log():
    app = opened(**{"outputs.num_requests": "7", "step": "5"})
    header, columns = shown(app)

    assert header["stage"] == "pool"
    assert len(header["requests"]) == 7
    assert len(columns["schedule_end"]) == header["num_steps"]
    assert app.session_state["on_screen"]["step"] == 5


def test_a_link_restores_the_controls():
    controls = {"urgent.block_size": "8", "urgent.policy": "First come, first served"}
    app = opened(pressure="Priorities", step="3", **controls)

    assert control(app.slider, "Block size").value == 8
    assert control(app.selectbox, "Policy").value == "fcfs"
    assert shown(app)[0]["scenario"]["block_size"] == 8
    assert address(app)["step"] == "3"


def test_next_preemption_stands_at_it():
    app = opened(step="0")
    assert "the next preemption is in step 28" in words(app)
    control(app.button, "Next preemption").click()
    checked(app.run())

    assert address(app)["step"] == "28"
    assert "<b>Step 28.</b> Pool full." in words(app)


def test_at_the_end_there_is_no_next_event():
    app = opened(step="343")

    assert all(button.disabled for button in app.button if button.label.startswith("Next"))
    assert "Nobody loses its place any more" in words(app)


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("Physical blocks", 1),
        ("Physical blocks", 100_001),
        ("Requests", 20_001),
        ("Shared first tokens", -1),
        ("Output, median tokens", 32_769),
    ],
)
def test_a_number_out_of_its_limits_is_answered_beside_it(label, value):
    app = opened()
    control(app.number_input, label).set_value(value)
    checked(app.run())

    assert len(complaints(app)) == 1
    assert f"{label} is {value:,}; " in complaints(app)[0].replace("\\", "")
    assert "<b>Step 41.</b>" in words(app)


@pytest.mark.parametrize("rate", [0.0, 10.0])
@pytest.mark.parametrize("block_size", [1, 256])
def test_sliders_at_both_ends(rate, block_size):
    app = opened(**{"outputs.num_requests": "9"})
    control(app.slider, "Arrivals a step").set_value(rate)
    control(app.slider, "Block size").set_value(block_size)
    checked(app.run())

    assert shown(app)[0]["scenario"]["block_size"] == block_size


def test_too_much_output_is_answered_and_the_last_run_stays():
    app = opened()
    control(app.number_input, "Requests").set_value(2_000)
    control(app.number_input, "Output, median tokens").set_value(32_768)
    control(app.number_input, "Longest request, tokens").set_value(1_000_000)
    checked(app.run())

    assert "output tokens are too many here" in complaints(app)[0]
    assert len(shown(app)[0]["requests"]) == 40


def test_a_pool_that_can_never_do_is_said_to_be_too_small():
    app = opened(**{"outputs.num_gpu_blocks": "3", "step": "0"})

    assert "Nothing can run any more" in complaints(app)[0]


def test_a_trace_is_shown_and_its_link_asks_for_the_file():
    app = opened(pressure="A trace of yours")
    assert "Upload a trace in the sidebar" in text(app)
    app.file_uploader[0].set_value(("mine.jsonl", trace(40, 33, 70), "application/json"))
    checked(app.run())
    assert [r["prompt"] for r in shown(app)[0]["requests"]] == [40, 33, 70]

    again = opened(**address(app))
    assert "**mine.jsonl**" in text(again)
    assert not again.get("bidi_component")


def test_a_broken_trace_link_is_answered():
    app = opened(pressure="A trace of yours", trace="abc")

    assert "cannot be read" in complaints(app)[0]


def test_a_log_too_large_to_play_has_its_pool_as_a_picture(monkeypatch):
    monkeypatch.setattr(pressure_run, "MAX_PLAYED", 1_000)
    app = opened()
    assert [c.proto.component_name for c in app.get("bidi_component")] == [PLAYHEAD]
    assert "are played in a browser" in picture(app)
    control(app.number_input, "Step").set_value(44)
    checked(app.run())

    assert address(app)["step"] == "44"
    assert "<b>Step 44.</b> Pool full." in words(app)
    assert "The pool after step 44" in picture(app)
    control(app.button, "Next eviction").click()
    checked(app.run())
    assert str(control(app.number_input, "Step").value) == address(app)["step"] != "44"


def picture(app):
    (image,) = app.get("image")
    return image.captions[0]


def test_a_file_that_a_page_gave_away_opens_here_too():
    app = opened(pressure="A file of yours")
    assert "Upload a scenario or a log in the sidebar" in text(app)
    app.file_uploader[0].set_value(("bad.json", b"[1", "application/json"))
    checked(app.run())
    assert "this is not JSON" in complaints(app)[0]
    scenario = json.dumps(EXAMPLES[1].scenario.to_json()).encode()
    app.file_uploader[0].set_value(("two.json", scenario, "application/json"))
    checked(app.run())

    assert not complaints(app)
    assert [r["id"] for r in shown(app)[0]["requests"]] == ["Ann", "Ben"]


def test_values_that_no_slider_can_have_are_answered():
    app = opened(**{"outputs.rate": "99", "outputs.block_size": "0", "outputs.policy": "lifo"})

    assert len(complaints(app)) == 3
    assert "outputs.rate=99; 0 to 10 would do\\: shown with 2.5" in complaints(app)[0]
