"""One run of a scenario: the engine's step loop, recorded as a log.

A step is: arrivals, aborts and resets; `schedule()`; the model; aborts that came meanwhile;
`update_from_output()` (vllm/v1/engine/core.py `EngineCore.step`, synchronous scheduling).
"""

from collections.abc import Callable

from sim.event_log import EventLog
from sim.events import LogBuilder
from sim.request import Request
from sim.scenario import Scenario
from sim.scheduler import Scheduler

QUIET_STEPS = 3  # steps in which nothing happens before a run that can never go on is cut
PROGRESS_EVERY = 256  # steps between two calls of `progress`

Progress = Callable[[int, int], None]


def simulate(scenario: Scenario, progress: Progress | None = None) -> EventLog:
    """Run the scenario to its end, or until nothing could ever run again (`stalled`).

    `progress(finished, requests)` is called now and then; what it raises ends the run.
    """
    run = Run(scenario)
    while run.advance():
        if progress and run.num_steps % PROGRESS_EVERY == 0:
            progress(run.num_finished, len(scenario.requests))
    return EventLog(scenario, run.log.columns(), run.stalled)


class Run:
    """A run in progress: the scheduler, the log so far, and what is still to come."""

    def __init__(self, scenario: Scenario) -> None:
        self.log = LogBuilder()
        self.scheduler = Scheduler(scenario, self.log.record)
        self.stalled = False
        self.num_steps = 0
        self._requests = {
            spec.id: Request(index, spec, scenario.priority_key(index))
            for index, spec in enumerate(scenario.requests)
        }
        self._coming = _Coming(scenario, self._requests)
        self._engine_step = 0
        self._quiet_steps = 0
        self._tokenless_steps = 0

    @property
    def num_finished(self) -> int:
        """Requests that are done, one way or another."""
        return self._coming.num_arrived - len(self.scheduler.unfinished)

    def advance(self) -> bool:
        """Run one step, jumping over idle time; False when there is nothing left to run."""
        if not self.scheduler.has_requests:
            next_step = self._coming.next_step(self._engine_step)
            if next_step is None:
                return False
            self._engine_step = next_step
        self._coming.arrive(self.scheduler, self._engine_step)
        arrive_end = self.log.num_rows
        reports = self.scheduler.has_unreported_finished
        moved = self.scheduler.schedule()
        schedule_end = self.log.num_rows
        self._coming.abort(self.scheduler, self._engine_step, "mid")
        sampled = self.scheduler.update_from_output()
        self._tokenless_steps = 0 if sampled else self._tokenless_steps + 1
        self.log.end_step(self._engine_step, arrive_end, schedule_end)
        self.num_steps += 1
        self._engine_step += 1
        return not self._is_stalled(quiet=not (moved or reports))

    def _is_stalled(self, quiet: bool) -> bool:
        """Has nothing happened for some steps, with nothing on its way that could change that?"""
        self._quiet_steps = self._quiet_steps + 1 if quiet else 0
        if self._quiet_steps >= QUIET_STEPS or self._recomputes_for_ever():
            pending = self._coming.next_step(self._engine_step) is not None
            self.stalled = bool(self.scheduler.unfinished) and not pending
        return self.stalled

    def _recomputes_for_ever(self) -> bool:
        """Has someone outgrown the pool, and nobody got a token in time to recompute all twice?"""
        if not self.scheduler.outgrew_pool:
            return False
        to_recompute = sum(request.num_tokens for request in self.scheduler.unfinished)
        return self._tokenless_steps > 2 * to_recompute


class _Coming:
    """What reaches the engine from outside, by step."""

    def __init__(self, scenario: Scenario, requests: dict[str, Request]) -> None:
        self._requests = requests
        self._aborts = scenario.aborts
        self._resets = scenario.resets
        self._arrivals = sorted(requests.values(), key=lambda r: r.spec.arrival_step)
        self._other_steps = sorted({a.step for a in self._aborts} | {r.step for r in self._resets})
        self.num_arrived = 0

    def next_step(self, engine_step: int) -> int | None:
        """The first step, `engine_step` or later, at which something comes."""
        steps = [step for step in self._other_steps if step >= engine_step][:1]
        if self.num_arrived < len(self._arrivals):
            steps.append(self._arrivals[self.num_arrived].spec.arrival_step)
        return min(steps, default=None)

    def arrive(self, scheduler: Scheduler, engine_step: int) -> None:
        """Arrivals, then aborts, then resets of a step."""
        arrivals = self._arrivals
        while self.num_arrived < len(arrivals):
            request = arrivals[self.num_arrived]
            if request.spec.arrival_step > engine_step:
                break
            scheduler.add_request(request)
            self.num_arrived += 1
        self.abort(scheduler, engine_step, "before")
        for reset in self._resets:
            if reset.step == engine_step:
                scheduler.reset_prefix_cache(reset.reset_running)

    def abort(self, scheduler: Scheduler, engine_step: int, phase: str) -> None:
        """Aborts of a phase of a step, one by one; ids that the engine does not know do nothing."""
        for abort in self._aborts:
            if abort.step == engine_step and abort.phase == phase:
                for request_id in abort.ids:
                    request = self._requests[request_id]
                    if request.spec.arrival_step <= engine_step:
                        scheduler.abort(request)
