"""One run of a scenario: the engine's step loop, recorded as a log.

A step is: arrivals, aborts and resets; `schedule()`; the model; aborts that came meanwhile;
`update_from_output()` (vllm/v1/engine/core.py `EngineCore.step`, synchronous scheduling).
"""

from collections.abc import Callable

from sim.checked import ScenarioError
from sim.coming import NEVER, Coming
from sim.event_log import EventLog
from sim.events import LogBuilder
from sim.request import Request
from sim.scenario import MAX_STEP, Scenario
from sim.scheduler import Scheduler
from sim.stop import num_outputs

QUIET_STEPS = 3  # steps in which nothing happens before a run that can never go on is cut
EVERY = 256  # steps between two calls of `progress`
CIRCLE_EVERY = 16  # steps between two looks for a run that goes in circles

NO_KEY = (0, 0.0, "")  # nobody compares requests that come first, and are served first

Progress = Callable[[int, int], None]


def simulate(scenario: Scenario, progress: Progress | None = None) -> EventLog:
    """Run the scenario to its end, or until nothing could ever run again (`stalled`).

    `progress(finished, requests)` is called now and then; what it raises ends the run. Raises
    ScenarioError when the run lasts longer than a log can say.
    """
    run = Run(scenario)
    while run.advance():
        if progress and run.num_steps % EVERY == 0:
            progress(run.num_finished, len(scenario.requests))
    return EventLog(scenario, run.log.columns(), run.stalled)


class Run:
    """A run in progress: the scheduler, the log so far, and what is still to come."""

    def __init__(self, scenario: Scenario) -> None:
        self.log = LogBuilder()
        self.scheduler = Scheduler(scenario, self.log)
        self.stalled = False
        self.num_steps = 0
        self._step_time = scenario.step_time
        self._coming = Coming(scenario, _requests(scenario))
        self._engine_step = 0
        self._quiet_steps = 0
        self._tokenless_steps = 0

    @property
    def num_finished(self) -> int:
        """Requests that are done, one way or another."""
        return self._coming.num_arrived - self.scheduler.num_unfinished

    def advance(self) -> bool:
        """Run one step, jumping over idle time; False when there is nothing left to run."""
        scheduler, coming, log = self.scheduler, self._coming, self.log
        if not scheduler.has_requests:
            if coming.next_step == NEVER:
                return False
            self._engine_step = max(self._engine_step, coming.next_step)
        coming.arrive(scheduler, self._engine_step)
        arrive_end = log.num_rows
        reports = scheduler.has_unreported_finished
        moved = scheduler.schedule()
        schedule_end = log.num_rows
        ticks = self._step_time.ticks(*scheduler.num_scheduled) if self._step_time else 1
        if self._engine_step > MAX_STEP:
            raise ScenarioError(
                "step_time", f"the run lasts more than {MAX_STEP:,} steps or ticks."
            )
        coming.abort_mid(scheduler, self._engine_step)
        sampled = scheduler.update_from_output()
        log.end_step(self._engine_step, arrive_end, schedule_end)
        self.num_steps += 1
        self._engine_step += ticks
        self._quiet_steps = 0 if moved or reports else self._quiet_steps + 1
        self._tokenless_steps = 0 if sampled else self._tokenless_steps + 1
        going = self._quiet_steps == self._tokenless_steps == 0
        return going or not self._is_stalled()

    def _is_stalled(self) -> bool:
        """Has nothing happened for some steps, with nothing on its way that could change that?"""
        if self._quiet_steps >= QUIET_STEPS or self._goes_in_circles():
            pending = self._coming.next_step != NEVER
            self.stalled = self.scheduler.num_unfinished > 0 and not pending
        return self.stalled

    def _goes_in_circles(self) -> bool:
        """Did nobody get a token in as many steps as it takes to recompute all twice, one by one?

        Requests that take blocks from each other for ever do that (`Hazard`).
        """
        if self._tokenless_steps % CIRCLE_EVERY:
            return False
        return self._tokenless_steps > 2 * sum(r.num_tokens for r in self.scheduler.unfinished)


def _requests(scenario: Scenario) -> list[Request]:
    by_priority = scenario.policy == "priority"
    return [
        Request(
            index,
            spec,
            scenario.priority_key(index) if by_priority else NO_KEY,
            num_outputs(scenario, spec),
        )
        for index, spec in enumerate(scenario.requests)
    ]
