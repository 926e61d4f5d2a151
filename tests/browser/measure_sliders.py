"""From a key on a slider to the updated figure: `python -m tests.browser.measure_sliders`.

One row for each slider of a page's default scenario. Every press asks for a value that was not
asked for before, so it is simulated, packed, sent and drawn; the end is the first animation frame
after all figures of the page were drawn anew: the player, and Plotly's where there is one. Pages
may be given by name: `… allocation pressure`. On a busy machine times say little: the load is
printed too.
"""

import os
import shutil
import sys
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import BROWSERS, FLAGS, SETTLED, serve

PRESSES = 30
REST_MS = 400  # after each press: what the player tells the server meanwhile is not measured


class Slider(NamedTuple):
    """A slider, the key that moves it to new values, and how many figures the page has."""

    page: str
    name: str
    key: str = "ArrowRight"
    plots: int = 0


SLIDERS = (
    Slider("allocation", "Block size"),
    Slider("prefix_sharing", "Physical blocks"),
    Slider("prefix_sharing", "Block size"),
    Slider("pressure", "Arrivals a step", plots=1),
    Slider("pressure", "Block size", plots=1),
    Slider("gather_loop", "Block size"),
    Slider("gather_loop", "Sequence length", "ArrowLeft"),
)
TITLES = "page slider presses p50/ms p95/ms most/ms load"

# Resolves to milliseconds between the key and the frame after the last figure was drawn.
PRESSED = """plots => {
  const loads = () => Object.values(window.__player).reduce((sum, p) => sum + p.read().loads, 0);
  const drawn = () => [...document.querySelectorAll(".js-plotly-plot")].map(gd => gd.calcdata);
  const before = { loads: loads(), drawn: new Set(drawn()) };
  window.updated = new Promise(resolve => {
    addEventListener("keydown", () => {
      const start = performance.now();
      const look = now => {
        const fresh = drawn().filter(data => data && !before.drawn.has(data)).length;
        if (loads() > before.loads && fresh >= plots) resolve(now - start);
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, { capture: true, once: true });
  });
}"""


def main(pages: list[str]) -> None:
    """Measure each slider and print its row."""
    print(_line(TITLES.split()))
    with serve(Path(__file__).parents[2]) as server, sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, BROWSERS)))
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for slider in SLIDERS:
            if not pages or slider.page in pages:
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                page.goto(f"{server.url}/{slider.page}")
                print(_line(_row(slider, _measured(page, slider))), flush=True)
                page.close()
        browser.close()


def _measured(page: Page, slider: Slider) -> list[float]:
    """Milliseconds of each press."""
    page.wait_for_selector(".player[data-ready=true]")
    handle = page.get_by_role("slider", name=slider.name).first
    handle.focus()
    times: list[float] = []
    while len(times) < PRESSES and _can_move(
        handle.evaluate("s => [s.min, s.max, s.value]"), slider
    ):
        page.wait_for_selector(SETTLED)
        page.wait_for_timeout(REST_MS)
        page.evaluate(PRESSED, slider.plots)
        page.keyboard.press(slider.key)
        times.append(page.evaluate("window.updated"))
    return times


def _can_move(ends: list[str], slider: Slider) -> bool:
    low, high, value = map(float, ends)
    return value < high if slider.key == "ArrowRight" else value > low


def _row(slider: Slider, times: list[float]) -> list[str]:
    cuts = quantiles(times, n=20, method="inclusive")
    numbers = [f"{ms:.0f}" for ms in (cuts[9], cuts[18], max(times))]
    return [slider.page, slider.name, str(len(times)), *numbers, f"{os.getloadavg()[0]:.1f}"]


def _line(cells: list[str]) -> str:
    page, slider, *rest = cells
    return f"{page:16}{slider:18}" + "".join(f"{cell:>9}" for cell in rest)


if __name__ == "__main__":
    main(sys.argv[1:])
