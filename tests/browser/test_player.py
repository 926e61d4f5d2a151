"""The player in Chromium: what it shows, how it is driven, what reaches Python."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from sim.conformance import load
from sim.event_log import EventLog
from sim.events import EventKind, Hazard
from sim.frame import Frame
from sim.scenario import Scenario
from sim.simulate import simulate
from tests.browser.conftest import Server, serve
from tests.browser.player.hand_log import EXPECTED, STEPS
from tests.browser.player.workload import busy_log

HERE = Path(__file__).parent
READY = ".player[data-ready=true]"

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def player_server() -> Iterator[Server]:
    with serve(HERE / "player") as running:
        yield running


@pytest.fixture
def open_player(visit: Open, player_server: Server) -> Open:
    def open_page(query: str = "", **options: Any) -> Page:
        page = visit(f"/?{query}", at=player_server, **options)
        page.wait_for_selector(READY)
        return page

    return open_page


@pytest.fixture(scope="module")
def hand(browser: Browser, player_server: Server) -> Iterator[Page]:
    """One page over the hand-made log, for tests that only look."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(player_server.url)
    page.wait_for_selector(READY)
    yield page
    context.close()


def read(page: Page) -> dict[str, Any]:
    return page.evaluate("window.__player.p.read()")


def seek(page: Page, step: int) -> dict[str, Any]:
    return page.evaluate("step => (window.__player.p.seek(step), window.__player.p.read())", step)


def expect_python(page: Page, step: int, request: str | None = None, block: int | None = None):
    words = f"Python: step {step}, request {request}, block {block}."
    expect(page.get_by_text(words)).to_be_visible()


def speed(page: Page, times: str) -> None:
    page.get_by_label("Speed").select_option(times)


def part(shown: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    return {name: shown[name] for name in expected}


# --- the state ------------------------------------------------------------------------------------


def test_each_step_shows_what_its_rows_say(hand):
    for step, expected in enumerate(EXPECTED):
        shown = seek(hand, step)
        assert part(shown, expected) == expected, f"step {step}"
        assert shown["invariants"] == [True] * 4


def test_backward_is_forward(hand):
    forward = [seek(hand, step) for step in range(len(STEPS))]
    backward = [seek(hand, step) for step in reversed(range(len(STEPS)))]

    for there, back in zip(forward, reversed(backward), strict=True):
        assert {**there, "frames": 0} == {**back, "frames": 0}


def test_owners_and_hues(hand):
    assert seek(hand, 3)["owners"] == [[], ["A", "B"], ["A"], ["B"], ["A"], ["B"]]
    assert read(hand)["hues"] == {"A": 0, "B": 1}
    assert seek(hand, 4)["hues"] == {"B": 1}, "B keeps its hue when A leaves"
    assert seek(hand, 10)["hues"] == {"C": 0}


def test_the_legend_adds_up(hand):
    for step in range(len(STEPS)):
        counts = dict(seek(hand, step)["legend"])
        parts = ("in use", "cached, free", "free, no hash", "null")
        assert sum(counts[name] for name in parts) == 6
    assert seek(hand, 1)["legend"][:2] == [["A", 2], ["B", 2]]
    assert dict(read(hand)["legend"])["shared"] == 1


def test_sentences_say_what_happened_and_why(hand):
    sentences = [seek(hand, step)["sentence"] for step in range(len(STEPS))]

    assert (
        sentences[0]
        == "A is admitted: no hit; tokens 0–2 take blocks 1, 2 from the free queue’s head."
    )
    assert sentences[1] == (
        "B is admitted: 2 tokens hit, shared with A; "
        "token 2 takes block 3 from the free queue’s head."
    )
    assert sentences[4] == (
        "C waits: 1 block is missing, and nobody overtakes it. "
        "A reached its length limit and gave back 3 blocks, "
        "two still cached, one still held by others."
    )
    assert sentences[5].startswith(
        "B has no room for token 6 and takes block 4 from the free queue’s head, "
        "which drops its cached hash."
    )
    assert sentences[8] == "B computes token 9; the last goes to block 2, slot 5."
    assert sentences[9] == (
        "B finds no free block, so as the last admitted it gives back 5 blocks "
        "and will compute its 11 tokens again."
    )
    assert sentences[10].endswith("B was aborted and held no block.")
    assert sentences[11] == "C reached its length limit and gave back 3 blocks, two still cached."


def test_what_goes_wrong_in_vllm_itself_is_told_first(open_player):
    page = open_player("log=hazards")
    sentences = [seek(page, hazard)["sentence"] for hazard in Hazard]

    assert [sentence.split(".")[0] for sentence in sentences[:3]] == [
        "B can never be admitted: it needs 9 blocks, more than the 5 there are",
        "B runs alone and still finds no free block, so it gives way to itself",
        "B stands at max_model_len and may not stop: it keeps its blocks and gets nothing",
    ]
    assert sentences[3].startswith(
        "B was to compute 2 blocks that already have their hashes, and now nobody will."
    )
    assert sentences[4].startswith(
        "B hits 2 blocks that nobody computed: vLLM 0.26.0 reads what is not there."
    )


def recorded(root: Path, name: str) -> EventLog:
    if name.startswith("busy_"):
        return busy_log(*map(int, name.split("_")[1:]))
    recording = load(root / "tests" / "golden" / f"{name}.json.gz")
    return simulate(Scenario.from_json(recording["scenario"]))


def as_shown(frame: Frame) -> dict[str, Any]:
    requests = frame.requests.values()
    return {
        "ref": frame.ref_cnt.tolist(),
        "prefix": frame.prefix_id.tolist(),
        "fill": frame.fill.tolist(),
        "freeQueue": frame.free_queue.tolist(),
        "running": list(frame.running),
        "waiting": list(frame.waiting),
        "tables": {r.request_id: list(map(int, r.block_table)) for r in requests if r.block_table},
        "computed": {r.request_id: int(r.num_computed_tokens) for r in requests},
        "tokens": {r.request_id: int(r.num_tokens) for r in requests},
    }


@pytest.mark.parametrize("name", ["fuzz_05", "pool_pressure_no_caching", "busy_1100_120"])
def test_any_seek_shows_the_frame_of_the_log(open_player, root, name):
    """Python finds a frame with NumPy over all rows; the browser replays from a keyframe."""
    page = open_player(f"log={name}")
    log = recorded(root, name)
    steps = random.Random(0).choices(range(log.num_steps), k=20)

    for step in [*steps, log.num_steps - 1, 0]:
        expected = as_shown(log.frame(step))
        shown = seek(page, step)
        assert part(shown, expected) == expected, f"step {step}"
        assert shown["invariants"] == [True] * 4


def test_the_way_to_a_step_does_not_matter(open_player):
    """Over keyframes too, all that is drawn is a function of the step."""
    page = open_player("log=fuzz_05")
    steps = range(0, 302, 11)

    forward = [seek(page, step) for step in steps]
    backward = [seek(page, step) for step in reversed(steps)]

    for there, back in zip(forward, reversed(backward), strict=True):
        assert {**there, "frames": 0} == {**back, "frames": 0}


def test_evictions_are_shown_whichever_way_a_step_is_reached(open_player):
    """Steps 128 and 192 are keyframes of the browser's; both cost hashes."""
    page = open_player("log=fuzz_05")
    for step in (128, 192):
        forward = [seek(page, at)["evicted"] for at in (step - 1, step)][-1]
        backward = [seek(page, at)["evicted"] for at in (step + 40, step)][-1]
        assert forward == backward != []


# --- playing, and what reaches Python -------------------------------------------------------------


def test_a_pause_commits_the_step(open_player):
    page = open_player("log=fuzz_05")
    speed(page, "8")
    page.get_by_label("Play (Space)").click()
    page.wait_for_function("window.__player.p.step() > 8")
    page.get_by_label("Pause (Space)").click()

    step = read(page)["step"]

    expect_python(page, step)
    assert not read(page)["playing"]


def test_nothing_is_sent_while_playing(open_player):
    page = open_player("log=fuzz_05")
    sent: list[Any] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.reload()
    page.wait_for_selector(READY)
    page.wait_for_timeout(800)
    sent.clear()
    speed(page, "16")
    page.get_by_label("Play (Space)").click()
    page.wait_for_function("window.__player.p.step() > 20")

    assert sent == []
    page.get_by_label("Pause (Space)").click()
    expect_python(page, read(page)["step"])
    assert len(sent) == 1


def test_keyboard(open_player):
    page = open_player("log=fuzz_05")
    page.locator(".player").focus()

    page.keyboard.press("ArrowRight")
    assert read(page)["step"] == 1
    page.keyboard.press("Shift+ArrowRight")
    assert read(page)["step"] == 11
    page.keyboard.press("ArrowLeft")
    assert read(page)["step"] == 10
    page.keyboard.press("Shift+ArrowLeft")
    assert read(page)["step"] == 0
    page.keyboard.press("End")
    assert read(page)["step"] == 301
    page.keyboard.press("Home")
    assert read(page)["step"] == 0
    page.keyboard.press(" ")
    assert read(page)["playing"]
    page.keyboard.press(" ")
    assert not read(page)["playing"]
    expect_python(page, read(page)["step"])


def test_the_step_is_spoken_only_at_rest(open_player):
    page = open_player("log=fuzz_05")
    live = page.locator(".live")
    page.get_by_label("Forward (→)").click()
    expect(live).to_have_text(read(page)["sentence"])
    page.get_by_label("Play (Space)").click()
    page.wait_for_function("window.__player.p.step() > 2")

    expect(live).to_have_text("")
    page.get_by_label("Pause (Space)").click()
    expect(live).to_have_text(read(page)["sentence"])


def test_another_widget_neither_stops_nor_reloads(open_player):
    page = open_player("log=fuzz_05")
    page.get_by_label("Play (Space)").click()
    page.get_by_role("slider", name="Other").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Other is 1.")).to_be_visible()
    step = read(page)["step"]
    page.wait_for_function(f"window.__player.p.step() > {step}")

    shown = read(page)

    assert shown["playing"]
    assert shown["loads"] == 1


def test_a_rerun_after_a_commit_does_not_move_the_player(open_player):
    """The page passes the committed step back in; it must neither reload nor jump."""
    page = open_player()
    page.locator(".player").focus()
    page.keyboard.press("ArrowRight")
    expect_python(page, 1)
    page.get_by_role("slider", name="Other").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Other is 1.")).to_be_visible()

    shown = read(page)

    assert (shown["step"], shown["loads"]) == (1, 1)


def test_it_starts_at_the_step_of_the_link(open_player):
    page = open_player("step=7")

    assert read(page)["step"] == 7
    expect_python(page, 7)


def test_a_new_log_keeps_the_step_that_fits(open_player):
    page = open_player("step=3")
    page.get_by_role("radio", name="short").click()
    page.wait_for_function("window.__player.p.read().loads === 2")
    assert read(page)["step"] == 3
    page.get_by_role("radio", name="hand").click()
    page.wait_for_function("window.__player.p.read().loads === 3")
    seek(page, 11)
    expect_python(page, 11)

    page.get_by_role("radio", name="short").click()
    page.wait_for_function("window.__player.p.read().loads === 4")

    assert read(page)["step"] == 4
    expect_python(page, 4)


def test_scrubbing_commits_when_let_go(open_player):
    page = open_player()
    box = page.locator(".field").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 6 / 11, middle, steps=4)
    assert read(page)["step"] == 6
    page.mouse.move(box["x"] + box["width"] * 9 / 11, middle, steps=4)
    expect_python(page, 0)
    page.mouse.up()

    expect_python(page, 9)


def test_play_stops_where_asked(open_player):
    page = open_player()
    speed(page, "16")
    for rule, step in (("Stop: hit", 1), ("Stop: preempt", 9), ("Stop: end", 11)):
        page.get_by_label("Stop at").select_option(label=rule)
        page.get_by_label("Play (Space)").click()
        expect_python(page, step)


def test_a_click_selects_a_block_and_its_request(open_player):
    page = open_player("step=3")
    box = page.locator(".pool-box canvas").bounding_box()
    left, pitch = box["x"] + 5, (83 + 14)
    page.mouse.click(left + 2 * pitch + 40, box["y"] + 166 + 20)
    expect_python(page, 3, "A", 2)
    assert read(page)["selected"] == {"request": "A", "token": 2, "block": 2}
    expect(page.locator(".tip")).to_contain_text("Block 2")
    expect(page.locator(".tip")).to_contain_text("slots4–5")

    page.mouse.move(left + 10, box["y"] + 33)
    expect(page.locator(".tip")).to_contain_text("1 · 2 + 0 % 2 = 2 + 0 = 2")


def find(page: Page, name: str) -> None:
    page.get_by_label("Block or request").fill(name)
    page.keyboard.press("Enter")


@pytest.mark.parametrize("log", ["hand", "busy_1100_120"])
def test_a_block_or_a_request_is_found_by_name(open_player, log):
    page = open_player(f"log={log}&step=3")
    owner, request = read(page)["owners"][3][0], read(page)["running"][0]
    find(page, "3")
    expect_python(page, 3, owner, 3)
    if log != "hand":
        expect(page.locator(".lens-words")).to_contain_text("Block 3")

    find(page, request)
    expect_python(page, 3, request, None)
    assert read(page)["selected"]["request"] == request
    expect(page.get_by_role("alert")).to_be_hidden()


def test_what_cannot_be_found_is_answered_beside_the_field(open_player):
    page = open_player("step=3")
    for name, answer in (
        ("6", "There is no block 6; a block from 0 to 5 or a request such as A would do."),
        ("D", "There is no request D; a block from 0 to 5 or a request such as A would do."),
        ("C", "C holds no block at step 3; it is admitted at step 10."),
    ):
        find(page, name)
        expect(page.get_by_role("alert")).to_have_text(answer)
    page.get_by_label("Block or request").fill("A")
    expect(page.get_by_role("alert")).to_be_hidden()
    assert read(page)["selected"]["block"] is None


def test_letters_in_the_field_are_no_shortcuts(open_player):
    """Streamlit's r and c run the page again and ask to clear its caches; Space plays."""
    page = open_player("step=3")
    page.get_by_label("Block or request").focus()
    page.keyboard.type("c r")
    page.keyboard.press("Home")

    assert page.get_by_label("Block or request").input_value() == "c r"
    assert (read(page)["step"], read(page)["playing"], read(page)["loads"]) == (3, False, 1)
    assert page.get_by_role("dialog").count() == 0


def test_a_busy_log_has_all_that_can_happen():
    kinds = set(busy_log(1_100, 120).columns["kind"].tolist())

    wanted = {"LOOKUP", "TOUCH", "TAKE", "CACHE", "RELEASE", "PREEMPT", "ADMIT", "FINISH"}
    assert {EventKind[name] for name in wanted} <= kinds


def test_a_broken_invariant_stops_play_and_is_marked(open_player):
    page = open_player("log=broken")
    speed(page, "16")
    seek(page, 3)
    page.get_by_label("Play (Space)").click()
    expect_python(page, 5)

    assert read(page)["invariants"] == [True, True, True, False]
    assert page.locator(".invariants .failed").count() == 1


# --- where it is shown ----------------------------------------------------------------------------


def test_a_switch_of_theme_keeps_the_place(open_player):
    page = open_player("step=6", color_scheme="light")
    player = page.locator(".player")
    assert read(page)["theme"] == "light"
    expect(player).to_have_css("background-color", "rgb(255, 255, 255)")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("window.__player.p.read().theme === 'dark'")
    expect(player).to_have_css("background-color", "rgb(14, 17, 23)")

    shown = read(page)

    assert (shown["step"], shown["loads"]) == (6, 1)


def test_a_hidden_tab_draws_when_it_is_shown(visit, player_server):
    page = visit("/?hidden=1&step=2", at=player_server)
    page.wait_for_function("window.__player && window.__player.p")
    assert page.locator(READY).count() == 0
    page.get_by_role("tab", name="Back").click()
    page.wait_for_selector(READY)

    assert page.locator(".pool-box canvas").bounding_box()["width"] > 600


def test_a_phone_has_room_for_it(open_player):
    page = open_player(
        "log=fuzz_05&step=106", size=(390, 844), device_scale_factor=2, has_touch=True
    )
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    inside = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert inside <= 390
    for target in page.locator(".player button:visible, .player select:visible").all():
        box = target.bounding_box()
        assert box["width"] >= 44 or box["height"] >= 44
        assert box["height"] >= 44

    size = "canvas => [canvas.width / canvas.clientWidth, canvas.height / canvas.clientHeight]"
    sharpness = page.locator(".pool-box canvas").evaluate(size)
    assert sharpness == pytest.approx([2, 2], abs=0.01)

    page.get_by_label("Forward (→)").tap()
    expect_python(page, 107)


def test_reduced_motion_cuts(open_player):
    page = open_player(reduced_motion="reduce")
    page.wait_for_timeout(300)
    before = read(page)["frames"]
    page.get_by_label("Forward (→)").click()
    page.wait_for_timeout(300)

    assert read(page)["frames"] - before <= 3


def test_controls_have_names(hand):
    for name in ("First step", "Back", "Play", "Forward", "Last step"):
        expect(hand.get_by_role("button", name=re.compile(name))).to_be_visible()
    place = hand.get_by_role("slider", name="Step").get_attribute("aria-valuetext")
    assert place == f"{read(hand)['step']} of 11. {read(hand)['sentence']}"
    expect(hand.get_by_role("group", name=re.compile("Space plays"))).to_be_visible()
