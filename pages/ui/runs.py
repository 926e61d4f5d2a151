"""Simulations, each run once and kept for every visitor who asks for the same."""

from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from pages.ui.cancellable import Show
from pages.ui.pressure_run import PressureRun
from pages.ui.recent import Recent
from sim.columns import pack
from sim.contiguous import ContiguousRun, Reservation, reserve
from sim.event_log import EventLog
from sim.scenario import Scenario
from sim.simulate import simulate
from sim.table_lengths import TableLengths
from sim.waste_history import WasteHistory, paged_history

KEPT, KEPT_BYTES = 16, 600_000_000  # bytes of logs; what is read out of them is smaller


@dataclass(frozen=True)
class SimulatedRun:
    """A log and what is read out of it; shared by all sessions, so read only."""

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

    @cached_property
    def pressure(self) -> PressureRun:
        """What the Pressure page reads out of the log."""
        return PressureRun(self.log)

    @cached_property
    def paged_waste(self) -> WasteHistory:
        """Where the slots of the paged pool went in every step."""
        read = self.pressure
        return paged_history(self.log, read.columns, TableLengths(read.stays))

    @property
    def num_bytes(self) -> int:
        """Size of the log."""
        return sum(column.nbytes for column in self.log.columns.values())


@st.cache_resource(show_spinner=False)
def _recent() -> Recent[Scenario, SimulatedRun]:
    return Recent(KEPT, KEPT_BYTES, lambda run: run.num_bytes)


def run_of(scenario: Scenario, show: Show | None = None) -> SimulatedRun:
    """The run of a scenario, simulated at the first call; `show` or else a bar here says how far.

    A control that is moved meanwhile ends it at the bar's next move, as Streamlit starts over.
    """
    bar = st.empty()  # also when there is nothing to wait for: what follows keeps its place
    run = _recent().get(scenario)
    if run is None:
        run = SimulatedRun(_simulated(scenario, show or bar.progress))
        bar.empty()
        _recent().put(scenario, run)
    return run


def _simulated(scenario: Scenario, show: Show) -> EventLog:
    def progress(finished: int, requests: int) -> None:
        show(finished / requests, f"Simulating: {finished:,} of {requests:,} requests done")

    return simulate(scenario, progress)


def on_screen(scenario: Scenario, step: int, page: str) -> None:
    """Remember what the page of that title shows; *Run the kernel* takes its block tables."""
    st.session_state["on_screen"] = {"scenario": scenario, "step": step, "page": page}
