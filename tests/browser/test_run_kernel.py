"""Run the kernel in a real server: its own process, a step from another page, and a killed run."""

import os
import signal
import time
from pathlib import Path

from playwright.sync_api import expect

MODEL = "A model’s decode step"


def kernel_processes(server):
    """Ids of the server's children that run kernels."""
    children = Path(f"/proc/{server.pid}/task").glob("*/children")
    ids = [int(pid) for path in children for pid in path.read_text().split()]
    return [pid for pid in ids if b"kernels.child" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def agreed(page):
    """The line under the parity figure that says every output is within the tolerance."""
    return page.get_by_text("outside tolerance 0")


def test_the_step_on_screen_runs_and_its_link_opens_it_elsewhere(fresh_server, visit):
    page = visit("/allocation?scenario=two-chats&step=4")
    page.wait_for_selector("[data-ready=true]")
    page.get_by_role("link", name="Run the kernel").click()
    expect(page.get_by_text("2 sequences of 22 to 23 tokens")).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(agreed(page)).to_be_visible(timeout=60_000)

    path = page.url.split("/", 3)[3]
    elsewhere = visit(f"/{path}", at=fresh_server)
    expect(elsewhere.get_by_text("2 sequences of 22 to 23 tokens")).to_be_visible()
    expect(elsewhere.get_by_role("cell", name="1, 2, 3, 6, 7, 8")).to_be_visible()


def test_a_killed_run_costs_a_sentence_and_the_next_one_works(fresh_server, visit):
    page = visit(f"/run_kernel?source={MODEL}", at=fresh_server)
    page.get_by_role("button", name="Run the cut").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    deadline = time.monotonic() + 30
    while not (running := kernel_processes(fresh_server)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(running[0], signal.SIGKILL)
    expect(
        page.get_by_text("before the run was done. The next run starts a new one.")
    ).to_be_visible()

    page = visit("/run_kernel", at=fresh_server)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(agreed(page)).to_be_visible(timeout=60_000)
    assert kernel_processes(fresh_server) != running
