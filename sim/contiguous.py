"""What paging replaced: each request reserves one piece of memory for the longest it could get.

The same requests, the same memory and the same token budget as the paged run; a request enters
when a gap of `max_model_len` slots is free (first fit, first come first served), and gives its
piece back when it is done. Nothing is shared and nobody is preempted. This is "Orca (Max)" of the
vLLM paper (arXiv 2309.06180, section 6.1).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.columns import Column
from sim.scenario import RequestSpec, Scenario
from sim.stop import num_outputs

COLUMNS = ("running", "waiting", "used", "reserved", "internal", "external")


@dataclass(frozen=True, slots=True)
class ContiguousRun:
    """The baseline's run, in slots and requests per engine step (int64 columns).

    `used` slots hold a token, `reserved` ones will, `internal` ones never will; `external` ones
    are free, but in no gap that the next request in line would fit into.
    `capacity` is the memory and `reservation` one request's piece of it, in slots.
    """

    capacity: int
    reservation: int
    columns: Mapping[str, Column]

    @property
    def num_steps(self) -> int:
        """Engine steps until the last request was done, or the run was cut."""
        return len(self.columns["running"])

    @property
    def most_at_once(self) -> int:
        """Requests that fit side by side."""
        return self.capacity // self.reservation

    def at(self, engine_steps: Column) -> dict[str, Column]:
        """The columns at some engine steps; zero after the end of the run."""
        done = engine_steps >= self.num_steps
        rows = np.where(done, 0, engine_steps)
        if not self.num_steps:
            return {name: np.zeros(len(rows), np.int64) for name in COLUMNS}
        return {name: np.where(done, 0, self.columns[name][rows]) for name in COLUMNS}


@dataclass(slots=True)
class _Piece:
    """One request in its piece of memory, from slot `start`."""

    spec: RequestSpec
    start: int
    final_tokens: int
    computed: int = 0
    total: int = 0


def reserve_to_maximum(scenario: Scenario, until: int | None = None) -> ContiguousRun:
    """Run the scenario's requests with a reservation of max_model_len slots each.

    The run is cut after `until` engine steps, if given.

    Requests that were aborted in the paged run run to their end here. When one reservation is
    larger than the memory nobody ever runs, and the run has no steps.
    """
    capacity = (scenario.num_gpu_blocks - 1) * scenario.block_size
    reservation = scenario.max_model_len
    memory = _Memory(scenario, capacity, reservation)
    rows: list[tuple[int, ...]] = []
    while reservation <= capacity and memory.has_requests and len(rows) != until:
        memory.step(len(rows))
        rows.append(memory.counts())
        memory.finish()
    table = np.array(rows, np.int64).reshape(-1, len(COLUMNS))
    return ContiguousRun(capacity, reservation, dict(zip(COLUMNS, table.T.copy(), strict=True)))


class _Memory:
    """The baseline's scheduler and its memory."""

    def __init__(self, scenario: Scenario, capacity: int, reservation: int) -> None:
        self.scenario = scenario
        self.capacity, self.reservation = capacity, reservation
        self.running: list[_Piece] = []
        self.coming = sorted(scenario.requests, key=lambda spec: spec.arrival_step, reverse=True)
        self.waiting: list[RequestSpec] = []

    @property
    def has_requests(self) -> bool:
        return bool(self.coming or self.waiting or self.running)

    def step(self, engine_step: int) -> None:
        """Arrivals, then tokens within the budget: for those that run, then for who can enter."""
        while self.coming and self.coming[-1].arrival_step <= engine_step:
            self.waiting.append(self.coming.pop())
        budget = self.scenario.max_num_batched_tokens
        for piece in self.running:
            budget -= self._compute(piece, budget)
        while self.waiting and budget > 0 and len(self.running) < self.scenario.max_num_seqs:
            start = self._first_fit()
            if start is None:
                break
            spec = self.waiting.pop(0)
            final = spec.prompt.num_tokens + num_outputs(self.scenario, spec)
            piece = _Piece(spec, start, final, total=spec.prompt.num_tokens)
            self.running.append(piece)
            budget -= self._compute(piece, budget)

    def _compute(self, piece: _Piece, budget: int) -> int:
        tokens = min(piece.total - piece.computed, budget)
        piece.computed += tokens
        return tokens

    def finish(self) -> None:
        """Everybody who has computed all tokens gets one more; the last of it ends the request."""
        for piece in self.running:
            piece.total += piece.computed == piece.total
        self.running = [piece for piece in self.running if piece.total < piece.final_tokens]

    def gaps(self) -> list[tuple[int, int]]:
        """(start, slots) of the free gaps, in order of address."""
        starts = sorted(piece.start for piece in self.running)
        edges = [0, *(start + self.reservation for start in starts)]
        return [
            (edge, start - edge)
            for edge, start in zip(edges, [*starts, self.capacity], strict=True)
            if start > edge
        ]

    def _first_fit(self) -> int | None:
        return next((start for start, slots in self.gaps() if slots >= self.reservation), None)

    def counts(self) -> tuple[int, ...]:
        """One row of COLUMNS."""
        used = sum(piece.computed for piece in self.running)
        final = sum(piece.final_tokens - 1 for piece in self.running)  # the last is never stored
        held = len(self.running) * self.reservation
        unusable = 0 if self._first_fit() is not None else self.capacity - held
        return (len(self.running), len(self.waiting), used, final - used, held - final, unusable)
