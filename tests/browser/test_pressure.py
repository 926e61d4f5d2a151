"""The Pressure page in a browser: what is drawn is what the log says; play, jump, drag, reload."""

import re

import pytest
from playwright.sync_api import expect

from pages.figures.palette import DARK
from pages.ui.pressure_examples import PRESSURE_EXAMPLES
from sim.load import requests_of
from sim.scenario import Scenario
from sim.simulate import simulate

READ = "Object.values(window.__player ?? {}).at(-1)?.read()"  # none while it is mounted anew
PLOT = "document.querySelector('.js-plotly-plot')"
OUTPUTS = PRESSURE_EXAMPLES[0]
FORTY = "<b>40 requests, in order of first admission</b>"

# Does what lies on top at a place show Plotly's tooltip when the mouse moves there?
HOVER = """([clientX, clientY]) => {
    const event = new MouseEvent("mousemove", { clientX, clientY, bubbles: true });
    document.elementFromPoint(clientX, clientY).dispatchEvent(event);
    return document.querySelector(".hoverlayer .hovertext");
}"""

# Each step that the player tells: itself, the playhead's, and where its line and Plotly's axis are.
WATCH = """(playhead) => {
    window.told = [];
    document.addEventListener("player:step", ({ detail }) => {
        const line = playhead.querySelector(".line").getBoundingClientRect();
        const plot = document.querySelector(".js-plotly-plot");
        const { _size, xaxis } = plot._fullLayout;
        const x = plot.getBoundingClientRect().left + _size.l + xaxis.l2p(detail.step + 1);
        told.push([detail.step, Number(playhead.dataset.step), line.x + line.width / 2, x]);
    });
}"""


@pytest.fixture(scope="module")
def log():
    requests = requests_of(OUTPUTS.load, OUTPUTS.engine["max_model_len"])
    return simulate(Scenario(requests=requests, **OUTPUTS.engine))


def ready(page):
    expect(page.locator(".player[data-ready=true]")).to_be_visible()
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.locator(".chart-playhead")).to_have_attribute("data-step", re.compile("[0-9]+"))
    return page


def drawn(page, name, at):
    """The value at a step of the band of that name, as it is drawn."""
    return page.evaluate(
        f"""() => {{
            const plot = {PLOT};
            return plot._fullData.find((trace) => trace.name === "{name}").y[{at}];
        }}"""
    )


def test_figure_player_and_legend_say_what_the_log_says(visit, log):
    page = ready(visit("/pressure?step=41"))
    frame = log.frame(41)
    free = len(frame.free_queue)
    cached = int((frame.prefix_id[frame.free_queue] >= 0).sum())

    assert page.evaluate(f"{READ}.step") == 41
    assert page.evaluate(f"{READ}.ref") == frame.ref_cnt.tolist()
    assert drawn(page, "cached, free", 41) == cached
    assert drawn(page, "free", 41) == free - cached
    legend = page.get_by_role("list", name="Blocks").get_by_role("listitem").all_inner_texts()
    assert re.sub(r"\s+", " ", legend[0]) == f"in use {59 - free}"
    assert re.sub(r"\s+", " ", legend[3]) == f"cached, free {cached}"
    names = page.evaluate(f"{PLOT}.layout.yaxis.ticktext")
    hued = [re.search("<b>(.*)</b>", name)[1] for name in names]
    player = page.locator(".player").inner_text()
    assert set(hued) == set(frame.running[:7])
    assert all(name in player for name in hued)


def test_button_key_and_link_move_player_figure_and_address_alike(visit):
    page = ready(visit("/pressure?step=41"))
    page.get_by_role("button", name="Next preemption").click()
    stands_at(page, 44)
    expect(page.get_by_text("Step 44.")).to_be_visible()
    page.locator(".player").focus()
    page.keyboard.press("ArrowRight")
    stands_at(page, 45)
    page.reload()
    stands_at(ready(page), 45)


def stands_at(page, step):
    expect(page).to_have_url(re.compile(f"step={step}"))
    expect(page.locator(".player")).to_have_attribute("data-step", str(step))
    expect(page.locator(".chart-playhead")).to_have_attribute("data-step", str(step))
    expect(page.get_by_text(f"Step {step}.", exact=True)).to_be_visible()


def test_the_playhead_follows_the_player_and_a_click_on_the_figure_moves_both(visit):
    page = ready(visit("/pressure?step=41"))
    box = page.locator(".chart-playhead .plot").bounding_box()
    page.wait_for_function(HOVER, arg=[box["x"] + 0.3 * box["width"], box["y"] + 450])
    page.locator(".chart-playhead").evaluate(WATCH)
    page.locator(".player").focus()
    page.keyboard.press("Space")
    page.wait_for_function("told.length > 5")
    page.keyboard.press("Space")
    told = page.evaluate("told")
    assert [step for step, *_ in told[:6]] == list(range(42, 48))
    for step, drawn_at, line, axis in told:
        assert drawn_at == step
        assert abs(line - axis) < 0.5
    expect(page).to_have_url(re.compile(f"step={told[-1][0]}$"))
    expect(page.get_by_text(f"Step {told[-1][0]}.", exact=True)).to_be_visible()

    plot = page.locator(".chart-playhead .plot")
    plot.evaluate("(plot) => plot.scrollIntoView({block: 'center'})")
    box = plot.bounding_box()
    page.mouse.click(box["x"] + (172.5 / 344) * box["width"], box["y"] + 420)
    stands_at(page, 172)
    page.mouse.down()
    page.mouse.move(box["x"] - 20, box["y"] + 430, steps=3)
    page.mouse.up()
    stands_at(page, 0)


def test_long_work_can_be_cancelled_and_what_was_there_stays(visit):
    page = ready(visit("/pressure?step=41"))
    more = page.get_by_text("More of the load")
    more.click()
    page.get_by_role("spinbutton", name="Requests", exact=True).fill("9000")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_role("spinbutton", name="Requests", exact=True)).to_have_value("9000")
    stands_at(page, 41)
    assert page.evaluate(f"{PLOT}._fullLayout.annotations[0].text") == FORTY
    page.get_by_role("spinbutton", name="Requests", exact=True).fill("9")
    page.keyboard.press("Enter")
    expect(page.get_by_text("9 requests, in order of first admission")).to_be_visible()
    expect(page.get_by_text("Cancelled")).to_have_count(0)


def test_a_slider_to_its_ends_makes_another_run(visit):
    page = ready(visit("/pressure?outputs.num_requests=9"))
    slider = page.get_by_role("slider", name="Block size")
    for key, size in (("End", 256), ("Home", 1)):
        slider.focus()
        page.keyboard.press(key)
        expect(page.get_by_text(f"60 blocks × {size} slots")).to_be_visible()
        expect(page).to_have_url(re.compile(f"block_size={size}"))


def test_it_fits_a_phone_and_follows_the_theme(visit):
    page = ready(visit("/pressure", size=(390, 844), color_scheme="dark"))

    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(f"{PLOT}.getBoundingClientRect().right") <= 390
    assert page.evaluate(f"{PLOT}.layout.paper_bgcolor") == DARK.bg
