"""Selecting and finding blocks and requests."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.player.driver import expect_python, read


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
