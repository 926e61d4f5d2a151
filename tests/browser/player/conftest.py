"""A server with nothing but a player on its page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Server, serve
from tests.browser.player.driver import READY, Open


@pytest.fixture(scope="session")
def player_server() -> Iterator[Server]:
    with serve(Path(__file__).parent) as running:
        yield running


@pytest.fixture
def open_player(visit: Open, player_server: Server) -> Open:
    def open_page(query: str = "", **options: Any) -> Page:
        page = visit(f"/?{query}", at=player_server, **options)
        page.wait_for_selector(READY)
        return page

    return open_page


@pytest.fixture(scope="session")
def hand(browser: Browser, player_server: Server) -> Iterator[Page]:
    """One page over the hand-made log, for tests that only look."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(player_server.url)
    page.wait_for_selector(READY)
    yield page
    context.close()
