"""Forward and back by events and by requests."""

import random

from playwright.sync_api import expect

from tests.browser.player.driver import expect_python, part, read, recorded, seek, speed
from tests.browser.player.hand_log import STEPS
from tests.browser.player.one_by_one import after_each_event, rows_by_step


def grain(page, name):
    page.get_by_role("button", name=name, exact=True).click()
    page.locator(".player").focus()


def press(page, key):
    page.keyboard.press(key)
    return read(page)


def test_each_event_shows_what_its_row_does(open_player):
    """All events of the log, forward and back by the arrow keys."""
    page = open_player()
    grain(page, "Event")
    expected = list(after_each_event(STEPS, 6))
    shown = [seek(page, 0, 1), *(press(page, "ArrowRight") for _ in expected[1:])]
    back = [press(page, "ArrowLeft") for _ in expected[1:]]

    for place, now in zip(expected, shown, strict=True):
        assert part(now, place) == place
        assert now["invariants"] == [True] * 4
    for there, again in zip(shown[-2::-1], back, strict=True):
        assert {**there, "frames": 0} == {**again, "frames": 0}
    assert press(page, "ArrowLeft")["event"] == 1, "nothing is before the first event"


def test_any_event_of_a_recorded_run(open_player, root):
    log = recorded(root, "fuzz_05")
    steps = rows_by_step(log)
    events = list(after_each_event(steps, log.scenario.num_gpu_blocks))
    page = open_player("log=fuzz_05")

    for place in random.Random(1).choices(events, k=40):
        shown = seek(page, place["step"], place["event"])
        assert part(shown, place) == place
    whole = seek(page, 106)
    assert whole["evicted"] != []
    assert {**seek(page, 106, len(steps[106]) + 1), "event": None, "frames": 0} != whole
    assert {**seek(page, 106), "frames": 0} == {**whole, "frames": 0}


def test_an_event_is_told_alone(open_player):
    page = open_player()
    told = {
        (1, 3): "B asks the prefix cache for its 3 tokens: 2 hit, in block 1.",
        (1, 4): "B puts block 1 first in its block table: its ref count + 1.",
        (4, 1): "A gives back blocks 4, 2, 1, last first: two still cached, "
        "to the free queue’s tail; one still held by others.",
        (5, 1): "B takes block 4 from the free queue’s head, and its hash is dropped.",
        (9, 3): "B is preempted: it goes to the front of the waiting queue, "
        "and its 11 tokens will be computed again.",
        (10, 5): "C is to compute 5 tokens in this step.",
        (10, 6): "The model computes 5 tokens of C; step 10 is complete.",
    }
    for place, sentence in told.items():
        assert seek(page, *place)["sentence"] == sentence
    assert read(page)["hues"] == {"C": 0}
    assert seek(page, 1, 5)["owners"][1] == ["A", "B"], "B holds what it hit before it runs"
    assert read(page)["fill"][3] == 0, "a block just taken is empty until the model has run"


def test_the_step_is_what_is_kept(open_player):
    """Python hears of steps; a scrub, a pause at an event and another grain show whole steps."""
    page = open_player("step=4")
    page.wait_for_function("window.__player.p.read().history.used.every(n => n >= 0)")
    whole = read(page)
    grain(page, "Event")
    assert press(page, "ArrowRight")["event"] == 1
    expect_python(page, 5)
    expect(page.locator(".place")).to_contain_text("event 1/4")

    page.get_by_label("Stop at").select_option(label="Stop: evict")
    speed(page, "16")
    page.get_by_label("Play (Space)").click()
    page.wait_for_function("!window.__player.p.read().playing")
    assert (read(page)["step"], read(page)["event"]) == (7, 1), "the next event that evicts"

    grain(page, "Step")
    assert (read(page)["step"], read(page)["event"]) == (7, None)
    assert {**seek(page, 4), "frames": 0} == {**whole, "frames": 0}


def test_the_grain_of_requests_stops_where_one_comes_or_goes(open_player):
    page = open_player()
    grain(page, "Request")

    assert [press(page, "ArrowRight")["step"] for _ in range(5)] == [1, 4, 9, 10, 11]
    assert press(page, "Shift+ArrowLeft")["step"] == 0
    speed(page, "16")
    page.get_by_label("Stop at").select_option(label="Stop: allocate")
    page.get_by_label("Play (Space)").click()
    page.wait_for_function("!window.__player.p.read().playing")
    assert read(page)["step"] == 1, "play goes by the grain too"
