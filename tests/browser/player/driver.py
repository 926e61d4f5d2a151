"""How tests drive a player and read it back, and the logs that it plays."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from sim.conformance import load
from sim.event_log import EventLog
from sim.scenario import Scenario
from sim.simulate import simulate
from tests.browser.player.workload import busy_log

READY = ".player[data-ready=true]"

Open = Callable[..., Page]


def read(page: Page) -> dict[str, Any]:
    return page.evaluate("window.__player.p.read()")


def seek(page: Page, step: int, event: int | None = None) -> dict[str, Any]:
    go = "([step, event]) => (window.__player.p.seek(step, event), window.__player.p.read())"
    return page.evaluate(go, [step, event])


def expect_python(page: Page, step: int, request: str | None = None, block: int | None = None):
    words = f"Python: step {step}, request {request}, block {block}."
    expect(page.get_by_text(words)).to_be_visible()


def speed(page: Page, times: str) -> None:
    page.get_by_label("Speed").select_option(times)


def part(shown: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    return {name: shown[name] for name in expected}


def recorded(root: Path, name: str) -> EventLog:
    if name.startswith("busy_"):
        return busy_log(*map(int, name.split("_")[1:]))
    recording = load(root / "tests" / "golden" / f"{name}.json.gz")
    return simulate(Scenario.from_json(recording["scenario"]))
