"""Who waits and who runs at a point of a log, and since when."""

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from sim.columns import Column
from sim.events import EventKind
from sim.scenario import RequestSpec, Scenario


@dataclass(slots=True)
class Life:
    """One unfinished request, as the rows so far tell.

    `kept_tokens` are those that exist when it is (re)admitted; `released_row` is the last row at
    which it gave its blocks back, `admitted_row` the last at which it was let in.
    """

    index: int
    spec: RequestSpec
    kept_tokens: int
    status: str = "WAITING"
    hit_tokens: int = 0
    num_preemptions: int = 0
    admitted_row: int = -1
    released_row: int = -1


class Lives:
    """All unfinished requests by index; those that run in order of admission; the queue."""

    def __init__(self, scenario: Scenario) -> None:
        self.all: dict[int, Life] = {}
        self._scenario = scenario
        self._running: dict[int, Life] = {}
        self._waiting: OrderedDict[int, Life] = OrderedDict()

    @property
    def running(self) -> list[Life]:
        """In order of admission."""
        return list(self._running.values())

    @property
    def waiting(self) -> list[Life]:
        """In the order in which they would be admitted."""
        queue = list(self._waiting.values())
        if self._scenario.policy == "priority":
            queue.sort(key=lambda life: self._scenario.priority_key(life.index))
        return queue

    def replay(self, kind: Column, request: Column, a: Column) -> None:
        """Take in rows; only those that move a request matter here."""
        moves = {
            int(EventKind.ARRIVE): self._arrive,
            int(EventKind.RELEASE): self._release,
            int(EventKind.PREEMPT): self._preempt,
            int(EventKind.ADMIT): self._admit,
            int(EventKind.FINISH): self._finish,
        }
        rows = np.flatnonzero(np.isin(kind, list(moves)))
        columns = (rows, kind[rows], request[rows], a[rows])
        for row, event, index, number in zip(*(c.tolist() for c in columns), strict=True):
            moves[event](row, index, number)

    def _arrive(self, row: int, index: int, number: int) -> None:
        spec = self._scenario.requests[index]
        self.all[index] = self._waiting[index] = Life(index, spec, spec.prompt.num_tokens)

    def _admit(self, row: int, index: int, hit_tokens: int) -> None:
        life = self._running[index] = self._waiting.pop(index)
        life.status, life.hit_tokens, life.admitted_row = "RUNNING", hit_tokens, row

    def _release(self, row: int, index: int, number: int) -> None:
        self.all[index].released_row = row

    def _preempt(self, row: int, index: int, kept_tokens: int) -> None:
        life = self._waiting[index] = self._running.pop(index)
        self._waiting.move_to_end(index, last=False)
        life.status, life.kept_tokens = "PREEMPTED", kept_tokens
        life.num_preemptions += 1

    def _finish(self, row: int, index: int, number: int) -> None:
        del self.all[index]
        self._running.pop(index, None)
        self._waiting.pop(index, None)
