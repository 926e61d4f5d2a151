"""What reaches the engine from outside: requests, aborts, resets, each at its step."""

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Generic, TypeVar

from sim.request import Request
from sim.scenario import Reset, Scenario
from sim.scheduler import Scheduler

NEVER = sys.maxsize
T = TypeVar("T")


class Coming:
    """Hands each thing to the scheduler once, at its step or, after a longer one, at the next."""

    def __init__(self, scenario: Scenario, requests: Sequence[Request]) -> None:
        by_id = {request.spec.id: request for request in requests}
        aborts: dict[str, list[tuple[int, Request]]] = {"before": [], "mid": []}
        for abort in scenario.aborts:
            aborts[abort.phase] += [(abort.step, by_id[request_id]) for request_id in abort.ids]
        self.num_arrived = 0
        self._arrivals = _Due((request.spec.arrival_step, request) for request in requests)
        self._aborts = _Due(aborts["before"])
        self._mid_aborts = _Due(aborts["mid"])
        self._resets: _Due[Reset] = _Due((reset.step, reset) for reset in scenario.resets)
        self._look_ahead()

    @property
    def next_step(self) -> int:
        """The step at which something comes next, or NEVER."""
        return min(self._next_before, self._mid_aborts.next_step)

    def arrive(self, scheduler: Scheduler, engine_step: int) -> None:
        """Arrivals, then aborts, then resets of a step."""
        if self._next_before > engine_step:
            return
        for request in self._arrivals.pop(engine_step):
            scheduler.add_request(request)
            self.num_arrived += 1
        _abort(scheduler, engine_step, self._aborts)
        for reset in self._resets.pop(engine_step):
            scheduler.reset_prefix_cache(reset.reset_running)
        self._look_ahead()

    def abort_mid(self, scheduler: Scheduler, engine_step: int) -> None:
        """Aborts that come while the model runs."""
        if self._mid_aborts.next_step <= engine_step:
            _abort(scheduler, engine_step, self._mid_aborts)

    def _look_ahead(self) -> None:
        lines = (self._arrivals, self._aborts, self._resets)
        self._next_before = min(line.next_step for line in lines)


class _Due(Generic[T]):
    """Things in order of their step; those of one step in the order given."""

    def __init__(self, things: Iterable[tuple[int, T]]) -> None:
        self._things = deque(sorted(things, key=itemgetter(0)))
        self.next_step = self._things[0][0] if self._things else NEVER

    def pop(self, engine_step: int) -> Iterator[T]:
        """Those up to a step."""
        while self.next_step <= engine_step:
            yield self._things.popleft()[1]
            self.next_step = self._things[0][0] if self._things else NEVER


def _abort(scheduler: Scheduler, engine_step: int, aborts: "_Due[Request]") -> None:
    """One by one; ids that the engine does not know yet do nothing."""
    for request in aborts.pop(engine_step):
        if request.spec.arrival_step <= engine_step:
            scheduler.abort(request)
