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


@pytest.fixture(scope="module")
def log():
    requests = requests_of(OUTPUTS.load, OUTPUTS.engine["max_model_len"])
    return simulate(Scenario(requests=requests, **OUTPUTS.engine))


def ready(page):
    expect(page.locator(".player[data-ready=true]")).to_be_visible()
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    return page


def drawn(page, name):
    """The last value left of the playhead of the band of that name, as it is drawn."""
    return page.evaluate(
        f"""() => {{
            const plot = {PLOT};
            const at = plot.layout.shapes[0].x0 - 1;
            return plot._fullData.find((trace) => trace.name === "{name}").y[at];
        }}"""
    )


def test_figure_player_and_legend_say_what_the_log_says(visit, log):
    page = ready(visit("/pressure?step=41"))
    frame = log.frame(41)
    free = len(frame.free_queue)
    cached = int((frame.prefix_id[frame.free_queue] >= 0).sum())

    assert page.evaluate(f"{READ}.step") == 41
    assert page.evaluate(f"{READ}.ref") == frame.ref_cnt.tolist()
    assert drawn(page, "cached, free") == cached
    assert drawn(page, "free") == free - cached
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
    page.wait_for_function(f"{READ}?.step === {step}")
    page.wait_for_function(f"{PLOT}?.layout?.shapes?.[0].x0 === {step + 1}")


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
