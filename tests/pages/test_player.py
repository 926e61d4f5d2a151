"""The player's Python side: what is sent, what comes back. The browser side is in tests/browser."""

import json
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.player import HERE, SCRIPTS, script
from sim.columns import pack

NUM_STEPS = 12


def page() -> None:
    import streamlit as st

    from pages.player import player
    from tests.pages.test_player import blob

    start = st.session_state.get("start", {"step": 0})
    st.session_state["state"] = player(blob(), key="p", **start)


def blob() -> bytes:
    return pack({"stage": "pool", "num_steps": NUM_STEPS}, {"kind": np.arange(3, dtype=np.uint8)})


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_function(page)


def state(app: AppTest) -> tuple[int, str | None, int | None]:
    assert not app.exception
    place = app.session_state["state"]
    return (place.step, place.request, place.block)


def sent(app: AppTest) -> bytes:
    return app.get("bidi_component")[0].proto.bytes


def note(app: AppTest) -> dict[str, object]:
    data = sent(app)
    assert data.startswith(blob())
    return json.loads(data[len(blob()) :])


def test_it_starts_where_it_is_told(app):
    app.session_state["start"] = {"step": 7, "request": "r3", "block": 5}
    app.run()

    assert state(app) == (7, "r3", 5)
    assert note(app) == {"key": "p", "step": 7, "request": "r3", "block": 5}


@pytest.mark.parametrize(("step", "shown"), [(-4, 0), (99, NUM_STEPS - 1)])
def test_a_step_out_of_range_is_brought_in(app, step, shown):
    app.session_state["start"] = {"step": step}
    app.run()

    assert state(app)[0] == note(app)["step"] == shown


def test_what_the_browser_commits_comes_back(app):
    app.run()
    app.session_state["p"] = {"step": 3, "request": "r1", "block": 2}
    app.run()

    assert state(app) == (3, "r1", 2)


def test_a_committed_step_is_brought_in_after_a_shorter_log(app):
    app.run()
    app.session_state["p"] = {"step": 400, "request": None, "block": None}
    app.run()

    assert state(app)[0] == NUM_STEPS - 1


def test_a_later_start_changes_nothing_that_is_sent(app):
    """Other bytes would make the browser load the log again, in the middle of playing."""
    app.session_state["start"] = {"step": 2}
    app.run()
    first = sent(app)
    app.session_state["start"] = {"step": 9}
    app.run()

    assert sent(app) == first
    assert state(app)[0] == 2


def test_the_scripts_are_all_there_and_only_one_exports():
    here = {path.name for path in (HERE / "js").glob("*.js")}

    assert here == set(SCRIPTS)
    assert re.findall(r"^export.*", script(), re.MULTILINE) == [
        "export default function ({ data, parentElement, setStateValue }) {"
    ]


def test_no_script_asks_the_network_for_anything():
    for word in ("fetch(", "XMLHttpRequest", "import(", "https://", "innerHTML"):
        assert word not in script()
