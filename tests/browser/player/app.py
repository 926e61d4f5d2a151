"""The player on a page of its own, with what must not disturb it beside it."""

import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from pages.player import PlayerState, player  # noqa: E402
from sim.columns import pack  # noqa: E402
from sim.conformance import load  # noqa: E402
from sim.scenario import Scenario  # noqa: E402
from sim.simulate import simulate  # noqa: E402
from tests.browser.player.hand_log import STEPS, broken_blob, hand_blob, hazard_blob  # noqa: E402
from tests.browser.player.workload import busy_blob  # noqa: E402


@st.cache_data
def blob(name: str) -> bytes:
    """The player's bytes for a log by name."""
    if name == "hand":
        return hand_blob()
    if name == "short":
        return hand_blob(STEPS[:5])
    if name == "hazards":
        return hazard_blob()
    if name == "broken":
        return broken_blob()
    if name.startswith("busy_"):
        return busy_blob(*map(int, name.split("_")[1:]))
    recording = load(ROOT / "tests" / "golden" / f"{name}.json.gz")
    log = simulate(Scenario.from_json(recording["scenario"]))
    return pack({**log.header(), "stage": "pool"}, log.columns)


@st.fragment
def stage(name: str) -> None:
    """The player, and what Python knows of it."""
    place = st.session_state.get(
        "place", PlayerState(int(st.query_params.get("step", 0)), None, None)
    )
    place = player(blob(name), key="p", step=place.step, request=place.request, block=place.block)
    st.session_state["place"] = place
    st.text(f"Python: step {place.step}, request {place.request}, block {place.block}.")


st.set_page_config(layout="wide")
st.text(f"Other is {st.slider('Other', 0, 10, key='other')}.")
default = st.query_params.get("log", "hand")
log_name = st.segmented_control("Log", [default, "short"], default=default, required=True)
front, back = st.tabs(["Front", "Back"])
with back if "hidden" in st.query_params else front:
    stage(log_name)
