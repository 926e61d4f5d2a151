"""What a preemption did to blocks: what was wanted, where the victim's went, who took them."""

from dataclasses import dataclass

import numpy as np

from sim.event_log import EventLog
from sim.events import EventKind
from sim.preemptions import Preemption

Blocks = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GivingWay:
    """The asker wanted `needed` blocks for `num_tokens` tokens from position `first_token` on, all
    0 when a reset did it. The victim's blocks went `to_head` and `to_tail` of the free queue, the
    first of them in front; the rest is `held` by others. Then the asker got `taken`, of which
    `evicted` lost a hash; nothing when it lacked blocks still, or was the victim itself.
    """

    first_token: int
    num_tokens: int
    needed: int
    to_head: Blocks
    to_tail: Blocks
    held: Blocks
    taken: Blocks
    evicted: int


def giving_way(log: EventLog, found: Preemption) -> GivingWay:
    """What the rows of its step say about a preemption of the log."""
    step = _Step(log, found.step)
    preempted = step.last(EventKind.PREEMPT, found.victim, step.end)
    released = step.last(EventKind.RELEASE, found.victim, preempted)
    blocks, head, tail = step.payload(released), step.a(released), step.b(released)
    first, tokens, needed = (
        (0, 0, 0) if found.asker is None else step.wanted(found.asker, preempted)
    )
    taken, evicted = step.taken(found.asker, preempted) if found.asker else ((), 0)
    return GivingWay(
        first_token=first,
        num_tokens=tokens,
        needed=needed,
        to_head=blocks[:head],
        to_tail=blocks[head : head + tail],
        held=blocks[head + tail :],
        taken=taken,
        evicted=evicted,
    )


class _Step:
    """The rows of a step up to the end of its `schedule()`."""

    def __init__(self, log: EventLog, step: int) -> None:
        self._log, self._step = log, step
        self._begin = int(log.columns["update_end"][step - 1]) if step else 0
        self.end = int(log.columns["schedule_end"][step])
        self._index = {spec.id: index for index, spec in enumerate(log.scenario.requests)}

    def a(self, row: int) -> int:
        return int(self._log.columns["a"][row])

    def b(self, row: int) -> int:
        return int(self._log.columns["b"][row])

    def payload(self, row: int) -> Blocks:
        return tuple(self._log.payload(row).tolist())

    def last(self, kind: EventKind, request_id: str, before: int) -> int:
        """The last row of a kind about a request before a row."""
        return self._rows((kind,), request_id, self._begin, before)[-1]

    def wanted(self, asker: str, before: int) -> tuple[int, int, int]:
        """Position of the first token, number of tokens and of new blocks asked for in vain."""
        tokens = self.a(self.last(EventKind.ALLOC_FAILED, asker, before))
        request = self._log.frame(self._step - 1).requests[asker]
        first, size = request.num_computed_tokens, self._log.scenario.block_size
        return first, tokens, -(-(first + tokens) // size) - len(request.block_table)

    def taken(self, asker: str, after: int) -> tuple[Blocks, int]:
        """Blocks given to the asker at its next try, and how many of them lost a hash."""
        kinds = (EventKind.TAKE, EventKind.ALLOC_FAILED)
        tries = self._rows(kinds, asker, after, self.end)
        if not tries or self._log.columns["kind"][tries[0]] != EventKind.TAKE:
            return (), 0
        return self.payload(tries[0]), self.a(tries[0])

    def _rows(
        self, kinds: tuple[EventKind, ...], request_id: str, begin: int, end: int
    ) -> list[int]:
        columns = self._log.columns
        chosen = np.isin(columns["kind"][begin:end], kinds)
        chosen &= columns["request"][begin:end] == self._index[request_id]
        rows: list[int] = (begin + np.flatnonzero(chosen)).tolist()
        return rows
