"""The Allocation page in a browser: play, edit, type nonsense, upload."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SETTLED

READ = "Object.values(window.__player)[0].read()"


def ready(page):
    expect(page.locator(".player[data-ready=true]")).to_be_visible()
    return page


def test_a_pause_commits_the_step(visit):
    page = ready(visit("/allocation?scenario=too-small&step=0"))
    page.get_by_role("button", name="Play").click()
    page.wait_for_function(f"{READ}.step >= 2")
    page.get_by_role("button", name="Pause").click()
    step = page.evaluate(f"{READ}.step")

    expect(page).to_have_url(re.compile(f"step={step}$"))
    expect(page.get_by_text(f"Block tables at step {step}")).to_be_visible()


def test_keys_step_and_commit(visit):
    page = ready(visit("/allocation?scenario=lesson&step=0"))
    page.locator(".player").focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("step=1"))
    page.keyboard.press("End")
    expect(page).to_have_url(re.compile("step=4"))
    expect(page.get_by_text("No request holds a block at step 4")).to_be_visible()


def test_another_control_keeps_the_step(visit):
    page = ready(visit("/allocation?scenario=too-small&step=9"))
    slider = page.get_by_role("slider", name="Block size")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("// 5 =")).to_be_visible()

    assert page.evaluate(f"{READ}.step") == 9


def test_nonsense_in_a_number_is_refused_beside_it(visit):
    page = ready(visit("/allocation?scenario=too-small"))
    blocks = page.get_by_role("spinbutton", name="Physical blocks")
    blocks.fill("999999999")
    blocks.press("Enter")

    sentence = "Physical blocks is 999,999,999; 2 to 100,000 blocks would do here."
    expect(page.get_by_text(sentence)).to_be_visible()
    assert "scenario=too-small" in page.url


def test_an_edited_request_is_simulated(visit):
    page = ready(visit("/allocation?scenario=lesson"))
    page.get_by_role("button", name="Edit the requests").click()
    grid = page.get_by_test_id("stPopoverBody").locator(".dvn-scroller")
    grid.dblclick(position={"x": 130, "y": 32 * 4 + 16})  # the prompt of the fourth row, A
    page.locator(".gdg-input").fill("7")
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile("scenario=eN"))
    page.keyboard.press("Escape")
    expect(page.get_by_role("row", name="A 7 3 1")).to_be_visible()


CHARTS = "[...document.querySelectorAll('.js-plotly-plot')]"

# Has each of the three charts over the block size one bar of another colour, at that size?
INK_AT = f"""(size) => {{
  const all = {CHARTS}.map((chart) => chart.data?.[0]).filter((bars) => Array.isArray(bars?.x));
  const one = ({{ x, marker }}) => {{
    const ink = marker.color[x.indexOf(size)];
    return ink && marker.color.filter((colour) => colour === ink).length === 1;
  }};
  return all.length === 3 && all.every(one);
}}"""


def test_charts_below_follow_the_player_and_the_block_size(visit):
    """Opened, they stay open: the playhead moves with the step, the bar in ink with the slider."""
    page = ready(visit("/allocation?scenario=two-chats&step=5"))
    assert page.evaluate(f"{CHARTS}.length") == 0
    page.get_by_text("Waste in every step").click()
    page.wait_for_function(f"{CHARTS}[0]?.layout.shapes[1].x0 === 6")
    page.get_by_text("What the block size does").click()
    page.wait_for_function(f"{CHARTS}.length === 4")
    page.locator(".player").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"{CHARTS}[0]?.layout.shapes[1].x0 === 7")
    slider = page.get_by_role("slider", name="Block size")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(INK_AT, arg="5")

    expect(page.get_by_text(re.compile("^At 5: 9.0.% of the held slots are empty"))).to_be_visible()
    chart = page.get_by_role("figure", name=re.compile("^Held but empty"))
    chart.hover()
    with page.expect_download() as picture:
        chart.get_by_role("button", name="Download plot as a PNG").click()
    assert picture.value.suggested_filename == "Two chats, waste.png"


def test_a_long_sweep_can_be_cancelled(visit, tmp_path):
    """200 requests of 2,000 tokens: seconds of simulation, ended by a click."""
    rows = [
        {
            "timestamp": 100 * number,
            "input_length": 1_000,
            "output_length": 1_000,
            "hash_ids": list(range(100 * number, 100 * number + 63)),
        }
        for number in range(1, 201)
    ]
    path = tmp_path / "long.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    page = ready(visit("/allocation"))
    upload(page, path)
    expect(page.get_by_text("long.jsonl: 200 requests")).to_be_visible()
    page.wait_for_function(f"{READ}.ref.length === 2588")
    page.wait_for_selector(SETTLED)
    page.get_by_text("What the block size does").click()
    start = page.get_by_role("button", name="Simulate all 9 block sizes")
    start.click()
    page.get_by_role("button", name="Cancel").click()

    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(start).to_be_enabled()
    assert page.evaluate(f"{CHARTS}.length") == 0


@pytest.fixture
def huge_file(tmp_path):
    """500 MB that take no room on the disk."""
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as file:
        file.truncate(500 * 2**20)
    return path


def test_an_upload_plays_to_its_end(visit, tmp_path):
    rows = [
        {
            "timestamp": 30 * number,
            "input_length": 20 + 7 * number % 90,
            "output_length": 5 + number % 40,
            "hash_ids": [0, *range(1000 * number, 1000 * number + (19 + 7 * number % 90) // 16)],
        }
        for number in range(1, 61)
    ]
    path = tmp_path / "sixty.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    page = ready(visit("/allocation"))
    upload(page, path)

    expect(page.get_by_text("sixty.jsonl: 60 requests")).to_be_visible()
    page.wait_for_function(f"{READ}.ref.length === 2588")
    page.locator(".player").focus()
    page.keyboard.press("End")
    expect(page.get_by_text("No request holds a block at step")).to_be_visible()
    assert "trace=" in page.url


def test_an_oversized_file_is_refused_and_nothing_is_lost(visit, huge_file):
    page = ready(visit("/allocation?scenario=two-chats"))
    upload(page, huge_file)

    expect(page.get_by_text(re.compile("File must be 50(\\.0)?MB or smaller"))).to_be_visible()
    assert page.evaluate(f"{READ}.ref.length") == 24
    assert "scenario=two-chats" in page.url


def upload(page, path):
    page.get_by_role("combobox", name="Scenario").click()
    page.get_by_role("option", name="A trace of yours").click()
    page.locator("input[type=file]").set_input_files(path)
