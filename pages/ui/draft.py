"""The scenario a visitor is working on, kept for the session.

The controls are filled from `base`, and their keys carry `version`: filling them anew means new
widgets. `good` is the last scenario that could be simulated, so a wrong input takes nothing away
from the screen.
"""

from dataclasses import dataclass, field

from pages.ui.examples import EXAMPLES, Example
from pages.ui.limits import check_limits
from pages.ui.link import ScenarioFile, link_of
from pages.ui.trace import ENGINE, NO_FILE, TraceChoice, Upload
from sim.checked import ScenarioError
from sim.scenario import Scenario


@dataclass(slots=True)
class Draft:
    """One visitor's scenario, and the place in its run that is looked at.

    With `tracing` the requests come from `upload`, read as `choice` says; `shown` is the choice
    that `good` was read with, None when `good` is not from a trace. With `filing` the scenario
    comes from a file: `opened` is what it held, `wanted` what a link asks for and nobody opened.
    `link` is `good` in a query string, when it is not from a trace; `address` is the whole query
    string as it was last read or written.
    """

    base: Scenario = EXAMPLES[0].scenario
    good: Scenario = EXAMPLES[0].scenario
    step: int = EXAMPLES[0].step
    request: str | None = None
    block: int | None = None
    token: int | None = None
    tracing: bool = False
    choice: TraceChoice = NO_FILE
    shown: TraceChoice | None = None
    upload: Upload | None = None
    filing: bool = False
    opened: Scenario | None = None
    wanted: ScenarioFile | None = None
    version: int = 0
    link: dict[str, str] = field(default_factory=dict)
    address: dict[str, str] = field(default_factory=dict)

    def key(self, widget: str) -> str:
        """The key of a control in this filling."""
        return f"{widget}.{self.version}"

    def open_scenario(self, scenario: Scenario, step: int = 0) -> None:
        """Put a scenario on screen. Raises ScenarioError when it is too large."""
        self.accept(scenario)
        self.base = scenario
        self.tracing = self.filing = False
        self.wanted = None
        self._stand_at(step)

    def open_example(self, example: Example) -> None:
        """Put an example on screen, at the step that shows what it is about."""
        self.open_scenario(example.scenario, example.step)

    def open_trace(self, engine: Scenario = ENGINE, choice: TraceChoice = NO_FILE) -> None:
        """Ask for a trace; what is on screen stays until one is there."""
        self.base, self.choice = engine, choice
        self.tracing, self.filing = True, False
        self.version += 1

    def ask_file(self, wanted: ScenarioFile | None = None) -> None:
        """Ask for a scenario's file; what is on screen stays until one is there."""
        self.base = self.good
        self.tracing, self.filing = False, True
        self.opened, self.wanted = None, wanted
        self.version += 1

    def open_file(self, scenario: Scenario) -> None:
        """Put the scenario of a file on screen: where the link stood, when it asked for this."""
        wanted, place = self.wanted, (self.step, self.request, self.token)
        self.open_scenario(scenario)
        if wanted == ScenarioFile.of(scenario):
            wanted, (self.step, self.request, self.token) = None, place
        self.filing, self.opened, self.wanted = True, scenario, wanted

    def reopen(self) -> None:
        """Fill the controls again with what is on screen."""
        self.base = self.good
        self.choice = self.shown or self.choice
        self.tracing = self.shown is not None
        self.version += 1

    def accept(self, scenario: Scenario, shown: TraceChoice | None = None) -> None:
        """Show what the controls say now. Raises ScenarioError when it is empty or too large."""
        if not scenario.requests:
            raise ScenarioError("requests", "this scenario has 0 requests; 1 would do.")
        check_limits(scenario)
        if shown:
            self.link = {}
        elif not self.link or scenario != self.good:
            self.link = link_of(scenario)
        self.good, self.shown = scenario, shown

    def move(self, step: int, request: str | None, block: int | None) -> None:
        """The player stands elsewhere, or something else was picked in it: the token asked about
        was another one's."""
        place = (step, request or self.request, block)
        if place != (self.step, self.request, self.block):
            self.token = None
        self.step, self.request, self.block = place

    @property
    def awaits_scenario(self) -> bool:
        """Was the link of a scenario's file followed, and is that file not here?"""
        return self.wanted is not None and self.opened is None

    @property
    def awaits_file(self) -> bool:
        """Was the link of a trace followed whose file is not here?"""
        return self.tracing and bool(self.choice.file) and self.shown is None

    def _stand_at(self, step: int) -> None:
        self.step, self.request, self.block, self.token = step, None, None, None
        self.version += 1
