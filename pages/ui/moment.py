"""A step of a run as the Pressure page looks at it: whose hue is which, in which theme."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pages.figures.palette import Theme
from pages.figures.pressure_hues import hues_at
from pages.figures.pressure_words import Chips
from pages.ui.pressure_run import PressureRun
from sim.columns import Column
from sim.preemptions import Preemption

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True)
class Moment:
    """A run, a step of it, and the colours of now."""

    run: PressureRun
    step: int
    theme: Theme

    @cached_property
    def hues(self) -> dict[int, int]:
        """Which of the seven hues a request that runs now has, by its index."""
        return hues_at(self.run.stays, self.step)

    @cached_property
    def chip(self) -> Chips:
        """Names in those colours."""
        requests = self.run.log.scenario.requests
        return Chips({requests[index].id: hue for index, hue in self.hues.items()}, self.theme)

    @property
    def preempted(self) -> list[Preemption]:
        """Who loses its place in this step."""
        return [found for found in self.run.preemptions if found.step == self.step]

    def next(self, happened: Column) -> int | None:
        """The next step in which something happened."""
        later = np.flatnonzero(happened[self.step + 1 :])
        return self.step + 1 + int(later[0]) if len(later) else None

    def figure(self) -> "go.Figure":
        """The lanes and bands; many lanes have no hue, so their figure is the same at any step."""
        from pages.figures.pressure import pressure_figure

        run = self.run
        if run.has_still_figure:
            return run.still_figures[self.theme.name]
        return pressure_figure(run.log, run.columns, run.lanes, self.hues, self.theme)

    def figure_alone(self) -> "go.Figure":
        """The same with its playhead, to take away."""
        from pages.figures.pressure import pressure_figure, with_playhead

        run = self.run
        figure = pressure_figure(run.log, run.columns, run.lanes, self.hues, self.theme)
        return with_playhead(figure, self.step, run.log.num_steps, self.theme)
