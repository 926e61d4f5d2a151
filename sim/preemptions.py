"""Each preemption of a run: who lost what to whom, and what was left when it came back."""

from dataclasses import dataclass

import numpy as np

from sim.columns import Column
from sim.event_log import EventLog
from sim.events import EventKind
from sim.pressure import recomputed
from sim.replay.request_rows import NO_ROW, RequestRows
from sim.stays import Stays, last_row


@dataclass(frozen=True, slots=True)
class Preemption:
    """`victim` lost its place in `step`, for `asker` lacked blocks; None: a reset did it.

    Of the victim's `blocks`, `hashed` went to the queue's tail with their hash, `unhashed` to its
    head, and the rest is still held by others. `computed` tokens were dropped. Of these, `hits`
    were found, and `recomputed` were not, when it came back in step `resumed`; None: it never did.
    """

    step: int
    victim: str
    asker: str | None
    missing: int
    blocks: int
    hashed: int
    unhashed: int
    computed: int
    resumed: int | None
    hits: int
    recomputed: int


def preemptions(log: EventLog, stays: Stays) -> list[Preemption]:
    """All of a run, in order."""
    rows, kind = stays.rows, stays.rows.kind
    ended = np.flatnonzero(kind[np.minimum(stays.leave, len(kind) - 1)] == EventKind.PREEMPT)
    ended = ended[stays.leave[ended] < len(kind)]
    ended = ended[np.argsort(stays.leave[ended])]
    row, request = stays.leave[ended], stays.request[ended]
    release = last_row(RequestRows(rows, EventKind.RELEASE), request, row)
    asked, following, again = _askers(log, stays, row), _following(stays, ended), recomputed(stays)
    names = [spec.id for spec in log.scenario.requests]
    return [
        Preemption(
            step=int(stays.stop_step[stay]),
            victim=names[request[i]],
            asker=None if asked[i] == NO_ROW else names[rows.request[asked[i]]],
            missing=0 if asked[i] == NO_ROW else int(rows.b[asked[i]]),
            blocks=int(rows.stop[release[i]] - rows.start[release[i]]),
            hashed=int(rows.b[release[i]]),
            unhashed=int(rows.a[release[i]]),
            computed=int(stays.dropped[stay]),
            resumed=None if following[i] == NO_ROW else int(stays.first_step[following[i]]),
            hits=0 if following[i] == NO_ROW else int(stays.hits[following[i]]),
            recomputed=0 if following[i] == NO_ROW else int(again[following[i]]),
        )
        for i, stay in enumerate(ended.tolist())
    ]


def _askers(log: EventLog, stays: Stays, row: Column) -> Column:
    """The failed allocation of the same `schedule()` before each preemption, or NO_ROW."""
    failed = np.append(NO_ROW, stays.rows.of(EventKind.ALLOC_FAILED))
    last = failed[np.searchsorted(failed, row) - 1]
    begin = log.columns["arrive_end"][np.minimum(stays.steps_begun(row), log.num_steps - 1)]
    return np.where((last >= begin) & (row > begin), last, NO_ROW)


def _following(stays: Stays, ended: Column) -> Column:
    """The next stay of each one's request, or NO_ROW."""
    order = stays.by_request
    next_of = np.full(len(order), NO_ROW, np.int64)
    same = stays.request[order][1:] == stays.request[order][:-1]
    next_of[order[:-1][same]] = order[1:][same]
    return next_of[ended]
