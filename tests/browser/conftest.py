"""A real server and a real Chromium.

`visit(path)` opens a page as a newcomer does and fails the test when the page wrote an error to the
console or asked another host for anything.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    expect,
    sync_playwright,
)

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SETTLED = "[data-testid=stApp][data-test-script-state=notRunning]"

expect.set_options(timeout=30_000)  # a busy machine takes its time


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its address, its process, and when it was asked to start."""

    url: str
    pid: int
    started: float


@contextmanager
def serve(root: Path) -> Iterator[Server]:
    """The app on a port of its own, gone with all its children afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = [f"--server.port={port}", "--server.address=127.0.0.1"]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", *options]
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_healthy(url)
        yield Server(url, process.pid, started)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=15)


def wait_until_healthy(url: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=1)
            return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.02)
    raise TimeoutError(f"no server at {url}")


@pytest.fixture(scope="session")
def server(root: Path) -> Iterator[Server]:
    """One server for all tests that do not mind who was there before."""
    with serve(root) as running:
        yield running


@pytest.fixture
def fresh_server(root: Path) -> Iterator[Server]:
    """A server that nobody has visited."""
    with serve(root) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert path, f"none of {BROWSERS} is on the path; `make browser` installs one"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def context_of(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """A visitor's browser for each way of looking, kept, so that scripts are loaded once."""
    contexts: dict[str, BrowserContext] = {}

    def context(**options: object) -> BrowserContext:
        key = repr(sorted(options.items()))
        if key not in contexts:
            contexts[key] = browser.new_context(**options)
        return contexts[key]

    yield context
    for opened in contexts.values():
        opened.close()


@dataclass
class Complaints:
    """What must not happen while a page is open."""

    errors: list[str]
    foreign: list[str]

    def hear(self, message: ConsoleMessage) -> None:
        # Under a page's path Streamlit looks for its endpoints at each level, and finds some.
        if message.type == "error" and "/_stcore/" not in message.location["url"]:
            self.errors.append(message.text)

    def watch(self, request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")):
            self.foreign.append(request.url)


@pytest.fixture
def visit(
    context_of: Callable[..., BrowserContext], server: Server
) -> Iterator[Callable[..., Page]]:
    """`visit(path, at=server, size=(1440, 900), **context)`: a settled page, a new session."""
    complaints = Complaints([], [])
    pages = []

    def open_page(
        path: str = "/",
        at: Server = server,
        size: tuple[int, int] = (1440, 900),
        settle: bool = True,
        **context: object,
    ) -> Page:
        viewport = {"width": size[0], "height": size[1]}
        page = context_of(viewport=viewport, **context).new_page()
        pages.append(page)
        page.on("console", complaints.hear)
        page.on("pageerror", lambda error: complaints.errors.append(str(error)))
        page.on("request", complaints.watch)
        page.goto(at.url + path)
        if settle:
            page.wait_for_selector(SETTLED)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert complaints == Complaints([], [])
