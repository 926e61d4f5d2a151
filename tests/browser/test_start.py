"""A cold start is quick, and the server process never loads torch."""

import os
import time
from pathlib import Path

from playwright.sync_api import expect

from pages.ui.router import MENU

GOAL = 2.0  # seconds, on two idle cores; 1.9 were measured


def test_cold_start_to_first_paint(fresh_server, visit, capsys):
    page = visit(at=fresh_server, settle=False)
    expect(page.locator("h1")).to_be_visible()
    seconds = time.perf_counter() - fresh_server.started

    # Twice the goal, for a machine that does other things too, and more for one that is overrun.
    # torch at import, 1 to 4 s by itself, still fails.
    overrun = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    with capsys.disabled():
        print(f"\ncold start to first paint: {seconds:.2f} s, load {overrun:.1f}")
    assert seconds < 2 * GOAL * overrun


def test_the_server_never_loads_torch(fresh_server, visit):
    for name in MENU:
        page = visit("/" if name == "overview" else f"/{name}", at=fresh_server)
        expect(page.locator("h1")).to_be_visible()

    libraries = Path(f"/proc/{fresh_server.pid}/maps").read_text()
    assert "numpy" in libraries, "the server's own libraries are listed"
    assert "torch" not in libraries
    assert "triton" not in libraries
