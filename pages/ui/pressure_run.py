"""What the Pressure page computes once of a run, for every visitor who asks for the same."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pages.figures.palette import DARK, LIGHT
from pages.ui.cancellable import Show
from pages.ui.limits import MAX_PLAYED
from sim.columns import pack
from sim.event_log import EventLog
from sim.lanes import Lanes, lanes
from sim.preemptions import Preemption, preemptions
from sim.pressure import Pressure, pressure
from sim.stays import Stays

if TYPE_CHECKING:
    import plotly.graph_objects as go


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

    @cached_property
    def pool_blob(self) -> bytes:
        """The log for the player's pool stage, without a reservation beside it."""
        return pack({**self.log.header(), "stage": "pool"}, self.log.columns)

    @property
    def is_played(self) -> bool:
        """Is the log small enough to be sent to a browser?"""
        return len(self.pool_blob) <= MAX_PLAYED

    def read(self, show: Show) -> None:
        """Read all that, and say how far that is."""
        if "columns" not in self.__dict__:
            self.__dict__["columns"] = pressure(
                self.log, self.stays, lambda share: show(share, "Counting blocks, step by step")
            )
        show(1.0, "Packing the log for the browser")
        _ = self.lanes, self.preemptions, self.pool_blob

    @property
    def has_still_figure(self) -> bool:
        """Are there too many lanes for names and hues?"""
        from pages.figures.pressure_lanes import MAX_LANES

        return len(self.lanes.order) > MAX_LANES

    @cached_property
    def still_figures(self) -> "dict[str, go.Figure]":
        """The figure without hues, the same at every step, by theme."""
        from pages.figures.pressure import pressure_figure

        return {
            theme.name: pressure_figure(self.log, self.columns, self.lanes, {}, theme)
            for theme in (LIGHT, DARK)
        }
