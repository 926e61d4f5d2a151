"""Cells that are copied look as cells that are drawn."""

import base64
import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser

from tests.browser.conftest import Server

NEVER_COPY = "Object.defineProperty(document.fonts, 'status', { value: 'loading' })"
STEPS = "for (const step of [49, 48, 49, 50, 49]) window.__player.p.seek(step)"


def pool_on_white(browser: Browser, address: str, script: str) -> np.ndarray:
    context = browser.new_context(reduced_motion="reduce")
    context.add_init_script(script)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(".player[data-ready=true]")
    page.evaluate("document.fonts.ready.then(() => null)")
    page.evaluate(STEPS)
    data = page.locator(".pool-box canvas").first.evaluate("canvas => canvas.toDataURL()")
    context.close()
    pool = Image.open(io.BytesIO(base64.b64decode(data.split(",")[1])))
    return np.asarray(Image.alpha_composite(Image.new("RGBA", pool.size, "white"), pool), int)


@pytest.mark.parametrize("log", ["fuzz_05", "busy_1024_60"])
def test_a_copied_cell_looks_as_a_drawn_one(browser, player_server: Server, log):
    address = f"{player_server.url}/?log={log}"
    copied, drawn = (pool_on_white(browser, address, script) for script in ("", NEVER_COPY))

    other = np.abs(copied - drawn).max(axis=2)
    assert other.shape == drawn.shape[:2]
    assert other.max() < 64, "round corners differ by a shade, nothing else does"
    assert np.count_nonzero(drawn < 200) > 10_000
