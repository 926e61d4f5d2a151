"""Every page opens by itself, with something to read, and without an exception."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.name for path in (ROOT / "pages").glob("*.py"))


def test_there_are_pages():
    assert "overview.py" in PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens(name):
    app = AppTest.from_file(ROOT / "pages" / name, default_timeout=30).run()

    assert not app.exception
    assert len(app.title) == 1


@pytest.mark.parametrize("name", PAGES)
def test_a_page_survives_a_rerun(name):
    app = AppTest.from_file(ROOT / "pages" / name, default_timeout=30).run().run()

    assert not app.exception


def test_the_router_opens_the_overview():
    app = AppTest.from_file(ROOT / "app.py", default_timeout=30).run()

    assert not app.exception
    assert app.title[0].value == "Overview"
