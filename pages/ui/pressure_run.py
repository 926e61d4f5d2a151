"""What the Pressure page computes once of a run, for every visitor who asks for the same."""

from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from sim.columns import pack
from sim.event_log import EventLog
from sim.lanes import Lanes, lanes
from sim.preemptions import Preemption, preemptions
from sim.pressure import Pressure, pressure
from sim.stays import Stays

KEPT = 16


@dataclass(frozen=True)
class PressureRun:
    """A log and what is read out of it; shared by all sessions, so read only."""

    log: EventLog

    @cached_property
    def stays(self) -> Stays:
        """When each request ran."""
        return Stays(self.log)

    @cached_property
    def columns(self) -> Pressure:
        """Counts of each step."""
        return pressure(self.log, self.stays)

    @cached_property
    def lanes(self) -> Lanes:
        """What each request did."""
        return lanes(self.log, self.stays)

    @cached_property
    def preemptions(self) -> list[Preemption]:
        """Who lost its place."""
        return preemptions(self.log, self.stays)

    @property
    def num_bytes(self) -> int:
        """Size of the log, without making it."""
        return sum(column.nbytes for column in self.log.columns.values())

    @cached_property
    def pool_blob(self) -> bytes:
        """The log for the player's pool stage, without a reservation beside it."""
        return pack({**self.log.header(), "stage": "pool"}, self.log.columns)


@st.cache_resource(show_spinner=False, max_entries=KEPT, hash_funcs={EventLog: id})
def pressure_run(log: EventLog) -> PressureRun:
    """The readings of a log. It is known by its identity, which its entry keeps alive."""
    return PressureRun(log)
