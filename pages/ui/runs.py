"""Simulations, each run once and kept for every visitor who asks for the same."""

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.recent import Recent
from sim.columns import pack
from sim.contiguous import ContiguousRun, Reservation, reserve
from sim.event_log import EventLog
from sim.scenario import Scenario
from sim.simulate import simulate

KEPT = 16


@dataclass(frozen=True)
class SimulatedRun:
    """A log and what the player needs of it; shared by all sessions, so read only."""

    log: EventLog

    @cached_property
    def baselines(self) -> dict[Reservation, ContiguousRun]:
        """The same requests with one piece of memory each, as long as the log goes."""
        until = int(self.log.columns["engine_step"][-1]) + 1
        return {how: reserve(self.log.scenario, how, until) for how in Reservation}

    @cached_property
    def pool_blob(self) -> bytes:
        """The log for the player's pool stage, with the largest reservation beside it."""
        baseline = self.baselines[Reservation.MAX].at(self.log.columns["engine_step"])
        reservation = self.log.scenario.max_model_len
        return pack(
            {**self.log.header(), "stage": "pool", "view": {"reserve": reservation}},
            {
                **self.log.columns,
                "cont_running": baseline["running"],
                "cont_used": baseline["used"],
                "cont_reserved": baseline["running"] * reservation,
            },
        )


@st.cache_resource(show_spinner=False)
def _recent() -> Recent[SimulatedRun]:
    return Recent(KEPT)


def run_of(scenario: Scenario) -> SimulatedRun:
    """The run of a scenario, simulated at the first call under a progress bar.

    A control that is moved meanwhile ends it at the bar's next move, as Streamlit starts over.
    """
    bar = st.empty()  # also when there is nothing to wait for: what follows keeps its place
    key = sha256(json.dumps(scenario.to_json()).encode()).digest()
    run = _recent().get(key)
    if run is None:
        run = SimulatedRun(_simulated(scenario, bar))
        _recent().put(key, run)
    return run


def _simulated(scenario: Scenario, bar: DeltaGenerator) -> EventLog:
    def show(finished: int, requests: int) -> None:
        bar.progress(finished / requests, f"Simulating: {finished:,} of {requests:,} requests done")

    log = simulate(scenario, show)
    bar.empty()
    return log


def on_screen(scenario: Scenario, step: int, page: str) -> None:
    """Remember what the page of that title shows; *Run the kernel* takes its block tables."""
    st.session_state["on_screen"] = {"scenario": scenario, "step": step, "page": page}
