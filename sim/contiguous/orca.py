"""The scheduler before paging: continuous batching over contiguous pieces of memory.

Orca as the vLLM paper assumes it (arXiv 2309.06180, section 6.1): first come first served, a
request holds one piece of memory from its entry to its end, and the buddy allocator says where.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from sim.contiguous.buddy import BuddyMemory, power_of_two
from sim.contiguous.reservation import Reservation, stored_slots
from sim.scenario import Scenario


class OrcaRequest(NamedTuple):
    """A request as Orca knows it: it reserves `slots`, and `stored` of them are full at its end."""

    id: str
    arrival_step: int
    prompt: int
    stored: int
    slots: int


class Span(NamedTuple):
    """Steps from `step` on, up to the next span, in which each who runs computes one token more.

    `entered` counts all requests so far; the rest are sums at `step`, `used`, `stored` and
    `reserved` over the requests that run, `pieces` over what they hold, `too_small` over the free
    blocks that the next in line cannot use (0 when nobody waits). Slots.
    """

    step: int
    entered: int
    running: int
    used: int
    stored: int
    reserved: int
    pieces: int
    too_small: int


def line_up(scenario: Scenario, reservation: Reservation) -> list[OrcaRequest]:
    """The scenario's requests in order of arrival, those of one step in the scenario's order."""
    return [
        OrcaRequest(
            id=spec.id,
            arrival_step=spec.arrival_step,
            prompt=spec.prompt.num_tokens,
            stored=stored_slots(scenario, spec),
            slots=reservation.slots(scenario, spec),
        )
        for spec in sorted(scenario.requests, key=lambda spec: spec.arrival_step)
    ]


class Orca:
    """One run in progress. It stops only at steps where something can change.

    At most one request has a part of its prompt still to come, and it is the last that entered: it
    took what was left of the budget, so nobody entered behind it. Nor do more requests run than the
    budget has tokens, as one must be left for whoever enters. So all others decode in every step.
    """

    def __init__(self, scenario: Scenario, line: list[OrcaRequest], capacity: int) -> None:
        self.line, self.memory = line, BuddyMemory(capacity)
        self.max_num_seqs, self.budget = scenario.max_num_seqs, scenario.max_num_batched_tokens
        self.step = self.entered = self.running = 0
        self.used = self.stored = self.reserved = self.pieces = 0
        self.prompt_left = self.newest_start = 0  # of the last that entered
        # heap of those with all of their prompt: (first step without it, start, request)
        self.ends: list[tuple[int, int, OrcaRequest]] = []

    @property
    def stuck(self) -> OrcaRequest | None:
        """The first that has not entered, if the empty memory has no piece as large as it needs."""
        first = self.line[self.entered] if self.entered < len(self.line) else None
        return first if first and power_of_two(first.slots) > self.memory.largest else None

    def spans(self, until: int | None) -> Iterator[Span]:
        """The run, or its part that begins before step `until`; `step` is then where it ended."""
        while self._goes_on() and (until is None or self.step < until):
            busy = self._compute()
            yield self._span()
            following = self.step + 1 if busy else self._next_event()
            self.used += self.running * (following - self.step - 1)
            self.step = following
            self._end()

    def _goes_on(self) -> bool:
        return self.running > 0 or (self.entered < len(self.line) and self.stuck is None)

    def _compute(self) -> bool:
        """The tokens of one step, within the budget; were there any of a prompt?"""
        decoding = self.running - bool(self.prompt_left)
        self.used += decoding
        left, prompts = self.budget - decoding, 0
        while prompts < left and (self.prompt_left or self._enter()):
            prompts += self._compute_prompt(left - prompts)
        return prompts > 0

    def _enter(self) -> bool:
        """Let the next in line in, if it may."""
        head = self._next_in_line()
        if head is None or self.running == self.max_num_seqs:
            return False
        start = self.memory.take(head.slots)
        if start is None:
            return False
        self.entered += 1
        self.prompt_left, self.newest_start = head.prompt, start
        self._count(head, 1)
        return True

    def _compute_prompt(self, budget: int) -> int:
        """Prompt tokens of the last that entered; with all of them it emits its first token."""
        tokens = min(self.prompt_left, budget)
        self.prompt_left -= tokens
        self.used += tokens
        if not self.prompt_left:
            newest = self.line[self.entered - 1]
            num_outputs = newest.stored - newest.prompt + 1
            heappush(self.ends, (self.step + num_outputs, self.newest_start, newest))
        return tokens

    def _end(self) -> None:
        """Take back the pieces of those who have emitted all."""
        while self.ends and self.ends[0][0] == self.step:
            _, start, request = heappop(self.ends)
            self.memory.give_back(start, request.slots)
            self.used -= request.stored
            self._count(request, -1)

    def _count(self, request: OrcaRequest, sign: int) -> None:
        self.running += sign
        self.stored += sign * request.stored
        self.reserved += sign * request.slots
        self.pieces += sign * power_of_two(request.slots)

    def _next_in_line(self) -> OrcaRequest | None:
        if self.entered < len(self.line) and self.line[self.entered].arrival_step <= self.step:
            return self.line[self.entered]
        return None

    def _next_event(self) -> int:
        """The next step at which one ends, or one comes while nobody waits."""
        steps = [self.ends[0][0]] if self.ends else []
        if self.entered < len(self.line) and self._next_in_line() is None:
            steps.append(self.line[self.entered].arrival_step)
        return min(steps)

    def _span(self) -> Span:
        head = self._next_in_line()
        return Span(
            step=self.step,
            entered=self.entered,
            running=self.running,
            used=self.used,
            stored=self.stored,
            reserved=self.reserved,
            pieces=self.pieces,
            too_small=self.memory.too_small_for(head.slots) if head else 0,
        )
