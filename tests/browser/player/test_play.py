"""How a player is driven, and what reaches Python."""

from typing import Any

from playwright.sync_api import expect

from tests.browser.player.driver import READY, expect_python, read, seek, speed


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


def test_a_broken_invariant_stops_play_and_is_marked(open_player):
    page = open_player("log=broken")
    speed(page, "16")
    seek(page, 3)
    page.get_by_label("Play (Space)").click()
    expect_python(page, 5)

    assert read(page)["invariants"] == [True, True, True, False]
    assert page.locator(".invariants .failed").count() == 1
