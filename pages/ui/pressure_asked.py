"""What a visitor of the Pressure page asks for."""

from dataclasses import dataclass

from pages.ui.cancellable import Show
from pages.ui.runs import run_of
from sim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Asked:
    """A choice of the controls: its slug, the step it opens at, and the scenario."""

    slug: str
    opening: int
    scenario: Scenario

    def prepare(self, show: Show) -> None:
        """Simulate it and read the log: all that can take long."""
        run_of(self.scenario, show).pressure.read(show)
