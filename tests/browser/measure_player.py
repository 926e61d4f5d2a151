"""What the player costs in Chromium without a GPU: `python -m tests.browser.measure_player`.

One row for each size: bytes of the log, and of the message in which it and the scripts travel;
navigation to the first picture (a new browser profile, on a server that has the log); pictures a
second while playing at 16×; seeks to random steps with their drawing; memory of the page. Sizes
may be given: `… 100000x200 64x2000`. On a busy machine times say little: the load is printed too,
and before each first picture that of an empty Streamlit page, below which none can come.
"""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median, quantiles

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import BROWSERS, FLAGS, serve
from tests.browser.player.workload import busy_blob

SIZES = [(blocks, steps) for blocks in (64, 1_024, 16_384, 100_000) for steps in (200, 2_000)]
PLAYED_S = 5
SEEKS = 60
PAINTS = 3  # the middle one counts
MS_PER_STEP = 600 / 16
TITLES = (
    "blocks steps log/KB message/KB empty/ms paint/ms fps steps/s seek-p50/ms seek-p95/ms heap/MB "
    "buffers/MB load"
)
PLAYER = "window.__player.p"
READY = ".player[data-ready=true]"
EMPTY = "[data-testid=stText]"

# Reading a pixel back makes Chromium carry out what was only queued.
SEEK = f"""(canvas, step) => {{
  const start = performance.now();
  {PLAYER}.seek(step);
  canvas.getContext("2d").getImageData(0, 0, 1, 1);
  return performance.now() - start;
}}"""
PAINTED = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
  () => done(performance.now()))))"""


@dataclass(frozen=True, slots=True)
class Cost:
    """A row of the table."""

    log_bytes: int
    message_bytes: int
    empty_ms: float
    paint_ms: float
    fps: float
    steps_per_s: float
    seeks_ms: list[float]
    heap_bytes: int
    buffer_bytes: int

    def cells(self) -> list[str]:
        """As text, in the order of TITLES."""
        cuts = quantiles(self.seeks_ms, n=20)
        return [
            f"{self.log_bytes / 1e3:,.0f}",
            f"{self.message_bytes / 1e3:,.0f}",
            f"{self.empty_ms:,.0f}",
            f"{self.paint_ms:,.0f}",
            f"{self.fps:.0f}",
            f"{self.steps_per_s:.1f}",
            f"{cuts[9]:.1f}",
            f"{cuts[18]:.1f}",
            f"{self.heap_bytes / 1e6:.0f}",
            f"{self.buffer_bytes / 1e6:.0f}",
        ]


def main(sizes: list[tuple[int, int]]) -> None:
    """Measure each size and print its row."""
    print(_line(TITLES.split()))
    here = Path(__file__).parent
    path = next(filter(None, map(shutil.which, BROWSERS)))
    with serve(here / "player") as server, serve(here / "blank") as blank, sync_playwright() as p:
        for size in sizes:
            browser = p.chromium.launch(executable_path=path, args=FLAGS)
            address = f"{server.url}/?log=busy_{size[0]}_{size[1]}"
            _paint_ms(browser, address, READY)  # simulates
            _paint_ms(browser, blank.url, EMPTY)
            empty_ms = median(_paint_ms(browser, blank.url, EMPTY) for _ in range(PAINTS))
            paint_ms = median(_paint_ms(browser, address, READY) for _ in range(PAINTS))
            with _opened(browser, address, READY) as page:
                cells = _measure(page, size, empty_ms, paint_ms).cells()
            load = f"{os.getloadavg()[0]:.1f}"
            print(_line([*(f"{n:,}" for n in size), *cells, load]), flush=True)
            browser.close()


def _paint_ms(browser: Browser, address: str, shown: str) -> float:
    with _opened(browser, address, shown) as page:
        return float(page.evaluate(PAINTED))


@contextmanager
def _opened(browser: Browser, address: str, shown: str) -> Iterator[Page]:
    """The page of a visitor who was never here, once an element is there."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.sent = 0  # type: ignore[attr-defined]
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: _count(page, data)))
    page.goto(address)
    page.wait_for_selector(shown, timeout=180_000)
    yield page
    context.close()


def _count(page: Page, data: str | bytes) -> None:
    """The largest message is the log."""
    page.sent = max(page.sent, len(data))  # type: ignore[attr-defined]


def _measure(page: Page, size: tuple[int, int], empty_ms: float, paint_ms: float) -> Cost:
    fps, steps_per_s = _play(page, size[1])
    random = Random(0)
    pool = page.locator(".pool-box canvas")
    seeks = [pool.evaluate(SEEK, random.randrange(size[1])) for _ in range(SEEKS)]
    usage = page.context.new_cdp_session(page).send("Runtime.getHeapUsage")
    return Cost(
        len(busy_blob(*size)),
        page.sent,  # type: ignore[attr-defined]
        empty_ms,
        paint_ms,
        fps,
        steps_per_s,
        seeks,
        usage["usedSize"],
        usage.get("backingStorageSize", 0),
    )


def _play(page: Page, steps: int) -> tuple[float, float]:
    """Pictures and steps a second."""
    page.evaluate(f"{PLAYER}.seek(0)")
    page.get_by_label("Speed").select_option("16")
    page.get_by_label("Play (Space)").click()
    at = f"[performance.now(), {PLAYER}.frames(), {PLAYER}.step()]"
    before = page.evaluate(at)
    time.sleep(min(PLAYED_S, 0.8 * steps * MS_PER_STEP / 1e3))
    after = page.evaluate(at)
    page.get_by_label("Pause (Space)").click()
    ms, frames, played = (b - a for a, b in zip(before, after, strict=True))
    return 1e3 * frames / ms, 1e3 * played / ms


def _line(cells: list[str]) -> str:
    return "  ".join(f"{cell:>11}" for cell in cells)


if __name__ == "__main__":
    given = [tuple(map(int, size.split("x"))) for size in sys.argv[1:]]
    main(given or SIZES)
