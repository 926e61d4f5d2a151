"""Gather loop and Overview in a real browser: what is drawn is what was recorded."""

import math
import re

import pytest
from playwright.sync_api import expect

from pages.figures.gather import MICRO_STEPS, micro_steps, source
from sim.attention import attend
from sim.attention_input import LESSON, random_input

READY = ".player[data-ready=true]"


@pytest.fixture
def open_player(visit):
    def opened(path, **options):
        page = visit(path, **options)
        page.wait_for_selector(READY)
        return page

    return opened


def read(page, key="gather"):
    return page.evaluate("key => window.__player[key].read()", key)


def seek(page, step, key="gather"):
    page.evaluate("([key, step]) => window.__player[key].seek(step)", [key, step])


def wait_until(page, condition, key="gather"):
    page.wait_for_function(f"() => (now => {condition})(window.__player['{key}'].read())")


def expected(walk, kind, token):
    """m, l and acc at a micro step: before its line has run, what was carried."""
    before, now = (walk.folds[i] if i >= 0 else None for i in (token - 1, token))
    if now is None:
        return -math.inf, 0.0, None
    rank = MICRO_STEPS.index(kind)
    inside = MICRO_STEPS.index("load") <= rank <= MICRO_STEPS.index("acc")

    def ran(step):
        return not inside or rank >= MICRO_STEPS.index(step)

    return (
        now.m if ran("max") else now.m_old,
        now.l if ran("l") else (before.l if before else 0.0),
        now.acc if ran("acc") else (before.acc if before else None),
    )


@pytest.mark.parametrize(
    ("path", "inputs"),
    [
        ("/gather_loop", LESSON),
        (
            "/gather_loop?seed=9&seq_len=9&head_size=5&block_size=4&order=reversed",
            random_input(9, 9, 5, 1, 1).placed(4, "reversed", 9),
        ),
    ],
)
def test_every_position_draws_what_was_recorded(open_player, path, inputs):
    page = open_player(path)
    (walk,) = attend(inputs)
    for step, (kind, token, logical) in enumerate(zip(*micro_steps(walk), strict=True)):
        seek(page, step)
        now = read(page)
        m, normaliser, acc = expected(walk, kind, token)
        assert (now["kind"], now["token"]) == (kind, token)
        assert now["block"] == (inputs.block_table[logical] if logical >= 0 else None)
        assert now["line"] == source()["lit"][kind]
        assert now["l"] == normaliser
        assert now["acc"] == list(acc or [0.0] * inputs.head_size)
        assert math.isinf(m) or now["m"] == m
        for block, states in now["slots"].items():
            lit = [i for i, state in enumerate(states) if state == "now"]
            folding = kind not in ("start", "block", "divide")
            here = folding and int(block) == walk.folds[token].block_id
            assert lit == ([walk.folds[token].offset] if here else [])


def test_unwritten_slots_are_never_read(open_player):
    page = open_player("/gather_loop?step=45")
    slots = read(page)["slots"]

    assert slots["1"] == ["read", "read", "unwritten", "unwritten"]
    assert slots["3"] == ["read"] * 4
    assert {*slots["0"], *slots["2"], *slots["4"]} == {"other"}


def test_it_opens_with_something_to_see_and_plays_to_the_end(open_player):
    page = open_player("/gather_loop")
    assert read(page)["sentence"].startswith("Token 4 sits in block 1, slot 0.")

    page.locator("select[aria-label=Speed]").select_option("4")
    page.get_by_role("button", name="Play").click()
    wait_until(page, "now.kind === 'divide' && !now.playing")
    assert "differs from dense attention by" in read(page)["sentence"]
    expect(page).to_have_url(re.compile("step=45"))
    expect(page.get_by_text("slot = 1 × 4 + 1 = 5")).to_be_visible()


@pytest.mark.parametrize(
    ("rule", "steps"),
    [
        ("each block", [29, 44, 45]),
        ("new max", [4, 11, 45]),
        ("each token", [8, 15, 22, 29, 37, 44, 45]),
    ],
)
def test_play_stops_where_it_was_asked_to(open_player, rule, steps):
    page = open_player("/gather_loop?step=0")
    page.locator("select[aria-label=Speed]").select_option("16")
    page.locator("select[aria-label='Stop at']").select_option(rule)
    for step in steps:
        page.get_by_role("button", name="Play").click()
        wait_until(page, f"!now.playing && now.step === {step}")


@pytest.mark.parametrize(
    ("grain", "steps"), [("Micro", [1, 2]), ("Block", [29, 44]), ("Query", [45])]
)
def test_arrow_goes_by_the_grain(open_player, grain, steps):
    page = open_player("/gather_loop?step=0")
    page.get_by_role("button", name=grain, exact=True).click()
    for step in steps:
        page.keyboard.press("ArrowRight")
        assert read(page)["step"] == step


def test_a_click_on_a_slot_goes_to_its_token(open_player):
    page = open_player("/gather_loop?step=0")
    canvas = page.locator(".figure canvas")
    at = canvas.bounding_box()
    spot = read(page)["spots"][2]
    page.mouse.click(at["x"] + spot[0], at["y"] + spot[1])
    wait_until(page, "now.kind === 'acc' && now.token === 2")


def test_a_new_input_keeps_the_player_and_its_place(open_player):
    page = open_player("/gather_loop?step=20")
    page.get_by_role("slider", name="Block size").focus()
    page.keyboard.press("ArrowLeft")
    wait_until(page, "now.loads === 2")

    assert read(page)["step"] == 20
    expect(page).to_have_url(re.compile("block_size=3"))


def test_a_link_restores_the_state_in_another_browser(open_player):
    link = "/gather_loop?seed=3&seq_len=30&head_size=8&group=4&query_head=2&block_size=8&step=77"
    first, second = open_player(link), open_player(link, color_scheme="dark")

    here, there = read(first), read(second)
    assert (here.pop("theme"), there.pop("theme")) == ("light", "dark")
    assert {**here, "frames": 0} == {**there, "frames": 0}
    assert here["step"] == 77


@pytest.mark.parametrize(
    "path", ["/gather_loop", "/", "/gather_loop?seed=1&seq_len=64&block_size=1"]
)
@pytest.mark.parametrize("size", [(390, 844), (820, 1180), (1440, 900)])
def test_nothing_is_wider_than_the_screen(open_player, path, size):
    page = open_player(path, size=size)
    canvas = page.locator(".figure canvas").bounding_box()

    assert canvas["x"] >= 0
    assert canvas["x"] + canvas["width"] <= size[0]
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_overview_opens_at_its_end_and_plays_from_the_start(open_player):
    page = open_player("/")
    (walk,) = attend(LESSON)
    now = read(page, "overview")
    assert (now["kind"], now["error"]) == ("compare", walk.error(walk.output))
    assert now["slots"] == [12, 13, 14, 15, 4, 5]
    assert "equals dense attention" in now["sentence"]

    page.locator("select[aria-label=Speed]").select_option("8")
    page.get_by_role("button", name="Play").click()
    wait_until(page, "now.kind === 'write' && now.playing", "overview")
    wait_until(page, "now.kind === 'compare' && !now.playing", "overview")


def test_overview_writes_then_reads_each_token_once(open_player):
    page = open_player("/?step=0")
    (walk,) = attend(LESSON)
    for step, tokens_read in enumerate([0] * 8 + [1, 2, 3, 4, 4, 5, 6, 6]):
        seek(page, step, "overview")
        now = read(page, "overview")
        assert now["written"] == min(step, 6)
        assert now["read"] == tokens_read
        assert now["partial"] == (walk.folds[tokens_read - 1].output if tokens_read else None)


def test_overview_leads_to_the_lesson_in_the_gather_loop(open_player):
    page = open_player("/")
    page.get_by_role("link", name="What does one query do?").click()
    page.wait_for_selector(f"{READY}[data-stage=gather]")

    assert read(page)["step"] == 31
