"""Who waits and who runs at a point of a log, and since when."""

from dataclasses import dataclass

import numpy as np

from sim.columns import Column
from sim.events import EventKind
from sim.replay.log_rows import LogRows
from sim.replay.request_rows import NO_ROW, RequestRows
from sim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Alive:
    """The unfinished requests at a point, one entry each, in scenario order.

    `index` is theirs in the scenario, `kept_tokens` what they have when they are (re)admitted;
    `preempted` and `admitted` are the last rows that did that to them, or NO_ROW. `running` and
    `waiting` are places in these arrays: in order of admission, and as they would be admitted.
    """

    index: Column
    prompt_tokens: Column
    kept_tokens: Column
    num_preemptions: Column
    preempted: Column
    admitted: Column
    running: Column
    waiting: Column


class Lives:
    """The rows that move requests: each arrives and finishes once, and runs when let in last."""

    def __init__(self, scenario: Scenario, log: LogRows) -> None:
        self._scenario = scenario
        self._a = log.a
        self._prompt = np.array([s.prompt.num_tokens for s in scenario.requests], np.int64)
        self._arrived, self._finished = np.full((2, len(self._prompt)), len(log.kind), np.int64)
        for rows, kind in ((self._arrived, EventKind.ARRIVE), (self._finished, EventKind.FINISH)):
            of_kind = log.of(kind)
            rows[log.request[of_kind]] = of_kind
        self._admissions = RequestRows(log, EventKind.ADMIT)
        self._preemptions = RequestRows(log, EventKind.PREEMPT)

    def before(self, row: int) -> Alive:
        """Who has arrived and not finished before a row."""
        index = np.flatnonzero((self._arrived < row) & (self._finished >= row))
        preempted = self._preemptions.last(index, row)
        admitted = self._admissions.last(index, row)
        running = np.flatnonzero(admitted > preempted)
        prompt = self._prompt[index]
        return Alive(
            index=index,
            prompt_tokens=prompt,
            kept_tokens=np.where(preempted == NO_ROW, prompt, self._a[preempted]),
            num_preemptions=self._preemptions.count(index, row),
            preempted=preempted,
            admitted=admitted,
            running=running[np.argsort(admitted[running])],
            waiting=self._queue(index, preempted, np.flatnonzero(admitted <= preempted)),
        )

    def _queue(self, index: Column, preempted: Column, waiting: Column) -> Column:
        """Those who wait, next one first: who was preempted last stands before all others."""
        if self._scenario.policy == "priority":
            key = self._scenario.priority_key
            who = dict(zip(index[waiting].tolist(), waiting.tolist(), strict=True))
            return np.array([who[i] for i in sorted(who, key=key)], np.int64)
        since = preempted[waiting]
        return waiting[np.argsort(np.where(since == NO_ROW, self._arrived[index[waiting]], -since))]
