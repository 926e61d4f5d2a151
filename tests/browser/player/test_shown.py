"""Where a player is shown: themes, tabs, a phone, a screen reader."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.player.driver import READY, expect_python, read


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
