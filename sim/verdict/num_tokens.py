"""How many tokens each request had at a point of a log."""

import numpy as np

from sim.columns import Column
from sim.event_log import EventLog
from sim.events import EventKind, FinishReason


def num_tokens_before(log: EventLog, row: int) -> Column:
    """Tokens of each request when `row`, one of a `schedule()`, was written; int64, by index.

    Those of the prompt and those sampled so far: a running request has one more than it had
    computed before the step, once it had computed all that it was admitted with.
    """
    columns = log.columns
    kind, request, a = (columns[name][:row] for name in ("kind", "request", "a"))
    rows = np.arange(row)
    step = np.searchsorted(columns["update_end"], np.arange(row + 1), side="right")

    def last(event: EventKind, value: Column, otherwise: Column) -> Column:
        """The value at each request's last row of a kind."""
        at, found = np.flatnonzero(kind == event), otherwise.astype(np.int64)
        found[request[at]] = value[at]
        return found

    prompts = np.array([spec.prompt.num_tokens for spec in log.scenario.requests], np.int64)
    never, now = np.full(len(prompts), -1), np.full(len(prompts), step[row])
    kept = last(EventKind.PREEMPT, a, prompts)
    admitted = last(EventKind.ADMIT, rows, never)
    until = last(EventKind.FINISH, step[:row] + (a != FinishReason.ABORT), now)
    explicit = (
        (kind == EventKind.SCHEDULE) & (rows > admitted[request]) & (step[:row] < until[request])
    )
    more = np.bincount(request[explicit], a[explicit] - 1, minlength=len(prompts)).astype(np.int64)
    computed = last(EventKind.ADMIT, a, never) + until - step[admitted] + more
    computed[admitted <= last(EventKind.PREEMPT, rows, never)] = 0
    return np.where(computed >= kept, computed + 1, kept)
