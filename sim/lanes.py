"""Lanes: what each request did when, as intervals of steps."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from sim.columns import Column
from sim.event_log import EventLog
from sim.events import EventKind
from sim.replay.request_rows import RequestRows
from sim.stays import Stays


class Doing(IntEnum):
    """What a request does in an interval."""

    WAITING = 0  # it has arrived, and has not run yet
    PREFILL = 1  # it computes its prompt
    DECODE = 2  # a token a step
    PREEMPTED = 3  # it lost its place, and waits to come back
    RECOMPUTE = 4  # it is back, and computes again what it had and did not find in the cache


@dataclass(frozen=True, slots=True)
class Lanes:
    """Intervals [start, stop) of steps, none empty, by request and in order of time.

    `order` has all requests, that admitted first in front; who never was comes last.
    """

    request: Column
    doing: Column
    start: Column
    stop: Column
    order: Column


def lanes(log: EventLog, stays: Stays) -> Lanes:
    """The lanes of a run, whose stays are known."""
    parts = [*_waits(log, stays), *_runs(stays)]
    request, doing, start, stop = (np.concatenate(column) for column in zip(*parts, strict=True))
    kept = np.flatnonzero(start < stop)
    kept = kept[np.lexsort((start[kept], request[kept]))]
    return Lanes(request[kept], doing[kept], start[kept], stop[kept], _order(log, stays))


Part = tuple[Column, Column, Column, Column]


def _waits(log: EventLog, stays: Stays) -> list[Part]:
    """From each arrival or preemption to the next admission, to the end when it was given up."""
    ends = RequestRows(stays.rows, EventKind.ADMIT, EventKind.FINISH)
    parts = []
    for kind, doing in ((EventKind.ARRIVE, Doing.WAITING), (EventKind.PREEMPT, Doing.PREEMPTED)):
        row = stays.rows.of(kind)
        request = stays.rows.request[row].astype(np.int64)
        place = ends.before(request, row)
        there = place < ends.before(request + 1, 0)
        stop = stays.steps_begun(np.append(ends.rows, len(stays.rows.kind))[place])
        stop = np.where(there, stop, log.num_steps)
        parts.append((request, np.full(len(row), doing), stays.steps_begun(row), stop))
    return parts


def _runs(stays: Stays) -> list[Part]:
    first = np.where(stays.resumed, Doing.RECOMPUTE, Doing.PREFILL)
    decode = np.full(len(first), Doing.DECODE)
    return [
        (stays.request, first, stays.first_step, stays.answering),
        (stays.request, decode, stays.answering, stays.stop_step),
    ]


def _order(log: EventLog, stays: Stays) -> Column:
    entry = np.full(len(log.scenario.requests), len(stays.rows.kind), np.int64)
    np.minimum.at(entry, stays.request, stays.entry)
    return np.argsort(entry, kind="stable")
