"""A link restores its state, also as the first request to a new server."""

import re

import pytest
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
    for path, title in {"/": "Overview", "/overview": "Overview", **HEADS}.items():
        page = visit(path)
        expect(page.locator("h1")).to_have_text(title)
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_an_address_that_is_none_lands_on_the_first_page(context_of, server):
    """Streamlit says so in a dialog, and in the console."""
    page = context_of().new_page()
    page.goto(f"{server.url}/nonsense")

    expect(page.get_by_role("dialog")).to_contain_text("Page not found")
    expect(page.locator("h1")).to_have_text("Overview")
    page.close()


def test_the_first_page_has_a_name_on_a_new_server_too(fresh_server, visit):
    page = visit("/overview?step=4", at=fresh_server)

    expect(page.locator("h1")).to_have_text("Overview")
    expect(page.locator(".place")).to_contain_text("4")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_value_that_no_control_can_have_is_answered(visit):
    page = visit("/gather_loop?block_size=9999&order=wild&seed=7&seq_len=9")

    expect(page.get_by_text("The link says block_size=9999; 1 to 32 would do")).to_be_visible()
    expect(page.get_by_text("The link says order=wild; ")).to_be_visible()
    expect(page.get_by_role("slider", name="Sequence length")).to_have_value("9")
    expect(page.get_by_role("slider", name="Block size")).to_have_value("4")
    expect(page).not_to_have_url(re.compile("block_size|order"))


def test_the_address_after_a_change_opens_the_same_in_another_browser(visit):
    page = visit("/allocation?scenario=two-chats")
    slider = page.get_by_role("slider", name="Block size")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("scenario=(?!two-chats)"))
    slider.press("End")
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


@pytest.mark.parametrize("kind", ["Scenario (JSON)", "Log (Parquet)"])
def test_a_file_that_was_taken_away_opens_again(visit, tmp_path, kind):
    page = visit("/allocation?scenario=too-small&step=9")
    page.get_by_role("slider", name="Block size").focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("scenario=(?!too-small)"))
    address = page.url
    with page.expect_download() as download:
        page.get_by_role("button", name=kind, exact=True).click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)

    other = visit("/allocation")
    other.get_by_role("combobox", name="Scenario").click()
    other.get_by_role("option", name="A file of yours").click()
    other.locator("input[type=file]").set_input_files(file)
    expect(other).to_have_url(address.replace("step=9", "step=0"))
    expect(other.get_by_role("slider", name="Block size")).to_have_value("5")

    (tmp_path / "bad.json").write_text("{")
    other.locator("input[type=file]").set_input_files(tmp_path / "bad.json")
    expect(other.get_by_text("bad.json: this is not JSON, from line 1")).to_be_visible()
    expect(other.locator(".player[data-ready=true]")).to_be_visible()
    assert other.url == address.replace("step=9", "step=0")


def test_coming_back_to_a_page_finds_what_was_left(visit):
    page = visit("/allocation?scenario=long-and-short&step=7")
    page.get_by_role("link", name="Overview", exact=True).click()
    expect(page.locator("h1")).to_have_text("Overview")
    page.get_by_role("link", name="Allocation", exact=True).first.click()

    expect(page.locator("h1")).to_have_text("Allocation")
    expect(page.locator(".place")).to_contain_text("7")
    expect(page).to_have_url(re.compile("scenario=long-and-short&step=7"))
