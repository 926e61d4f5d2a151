"""A link restores its state, also as the first request to a new server."""

import re

from playwright.sync_api import expect

from pages.ui.examples import EXAMPLES
from pages.ui.link import encode_scenario
from pages.ui.router import MENU

HEADS = {f"/{name}": title for name, title in MENU.items() if name != "overview"}


def test_a_deep_link_is_the_first_request_of_a_new_server(fresh_server, visit):
    scenario = encode_scenario(EXAMPLES[3].scenario)
    page = visit(f"/allocation?scenario={scenario}&step=11&request=r0&token=7", at=fresh_server)

    expect(page.locator("h1")).to_have_text("Allocation")
    expect(page.get_by_text("Why token 7 of r0 is in slot 11")).to_be_visible()
    expect(page.locator(".place")).to_contain_text("11")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert "step=11" in page.url


def test_the_menu_is_on_top_of_a_deep_link_to_a_new_server(fresh_server, visit):
    page = visit("/allocation", at=fresh_server)

    for name in HEADS.values():
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()


def test_every_page_is_reached_by_its_address(visit):
    for path, title in {"/": "Overview", **HEADS}.items():
        page = visit(path)
        expect(page.locator("h1")).to_have_text(title)
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_address_after_a_change_opens_the_same_in_another_browser(visit):
    page = visit("/allocation?scenario=two-chats")
    slider = page.get_by_role("slider", name="Block size")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("scenario=(?!two-chats)"))
    page.keyboard.press("End")
    expect(slider).to_have_value("256")
    expect(page.get_by_text("// 256 = 0")).to_be_visible()
    address = page.url

    other = visit(address.removeprefix(address.split("/allocation")[0]))
    expect(other.get_by_role("slider", name="Block size")).to_have_value("256")
    expect(other.get_by_text("// 256 = 0")).to_be_visible()
    assert other.url == address


def test_a_wrong_link_is_answered_and_the_page_works(visit):
    page = visit("/allocation?scenario=nonsense&step=2")

    expect(page.get_by_text("the scenario in this link cannot be read")).to_be_visible()
    expect(page.locator(".player[data-ready=true]")).to_be_visible()


def test_coming_back_to_a_page_finds_what_was_left(visit):
    page = visit("/allocation?scenario=long-and-short&step=7")
    page.get_by_role("link", name="Overview", exact=True).click()
    expect(page.locator("h1")).to_have_text("Overview")
    page.get_by_role("link", name="Allocation", exact=True).first.click()

    expect(page.locator("h1")).to_have_text("Allocation")
    expect(page.locator(".place")).to_contain_text("7")
    expect(page).to_have_url(re.compile("scenario=long-and-short&step=7"))
