"""Where vLLM 0.26.0 itself goes wrong: told in the log and read back; no decision depends on it."""

from dataclasses import dataclass

import numpy as np

from sim.block_pool import BlockPool
from sim.event_log import EventLog
from sim.events import EventKind, Hazard, LogBuilder
from sim.request import Request


class Hazards:
    """Writes a HAZARD row for each thing that is seen (`Hazard` says what they mean)."""

    def __init__(self, block_pool: BlockPool, block_size: int, log: LogBuilder) -> None:
        self._block_pool = block_pool
        self._block_size = block_size
        self._told: set[Request] = set()  # who never fits
        self._record = log.record

    def refused(self, request: Request) -> None:
        """A request was not admitted for want of blocks: are there ever enough? Told once."""
        blocks = -(-request.num_tokens // self._block_size)
        if blocks >= self._block_pool.num_blocks and request not in self._told:
            self._told.add(request)
            self._record(EventKind.HAZARD, request.index, Hazard.NEVER_FITS, blocks)

    def outgrew_pool(self, request: Request) -> None:
        """A request that ran alone found no block."""
        self._record(EventKind.HAZARD, request.index, Hazard.OUTGREW_POOL)

    def stands_at_max_model_len(self, request: Request) -> None:
        """A request may not stop, and cannot go on."""
        self._record(EventKind.HAZARD, request.index, Hazard.PAST_MAX_MODEL_LEN)

    def preempted(self, victim: Request) -> None:
        """Blocks get their hash when they are scheduled: a victim's are not computed after all."""
        first = victim.num_computed_tokens // self._block_size
        blocks = victim.block_table[first : victim.num_cached_blocks]
        if blocks:
            self._block_pool.uncomputed.update(blocks)
            self._record(EventKind.HAZARD, victim.index, Hazard.UNCOMPUTED, len(blocks), blocks)


@dataclass(frozen=True, slots=True)
class FoundHazard:
    """A HAZARD row: what went wrong at a step, for whom, with how many and which blocks."""

    step: int
    hazard: Hazard
    request_id: str
    num_blocks: int
    blocks: tuple[int, ...]


def hazards(log: EventLog) -> list[FoundHazard]:
    """All that a run tells, in order."""
    columns = log.columns
    rows = np.flatnonzero(columns["kind"] == EventKind.HAZARD)
    steps = np.searchsorted(columns["update_end"], rows, side="right")
    return [
        FoundHazard(
            step,
            Hazard(int(columns["a"][row])),
            log.scenario.requests[columns["request"][row]].id,
            int(columns["b"][row]),
            tuple(log.payload(row).tolist()),
        )
        for row, step in zip(rows.tolist(), steps.tolist(), strict=True)
    ]
