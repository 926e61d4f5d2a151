"""The whole visible state at one point of a run.

Nothing is decided here: `sim/replay` finds every value in the rows before that point.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sim.columns import Column


@dataclass(frozen=True, slots=True)
class RequestFrame:
    """One unfinished request that has arrived; status is WAITING, RUNNING or PREEMPTED."""

    request_id: str
    status: str
    num_computed_tokens: int
    num_tokens: int
    num_prompt_tokens: int
    num_preemptions: int
    block_table: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """By default what the model runner gets: the state after `schedule()`, before the model ran.

    `requests` are by id in scenario order; `running` in order of admission, `waiting` in the order
    of the queue; `scheduled` are (id, tokens, first position) in the model runner's order.
    `ref_cnt`, `prefix_id` (-1: no hash), `cached_order` (of two blocks with one prefix the smaller
    is older) and `fill` (tokens held) have an entry for each block, the null block included;
    `free_queue` goes from the head, next to be taken, to the tail.
    """

    step: int
    engine_step: int
    block_size: int
    running: tuple[str, ...]
    waiting: tuple[str, ...]
    requests: Mapping[str, RequestFrame]
    scheduled: tuple[tuple[str, int, int], ...]
    ref_cnt: Column
    free_queue: Column
    prefix_id: Column
    cached_order: Column
    fill: Column

    @property
    def block_tables(self) -> list[list[int]]:
        """Block tables of the running requests, in order of admission."""
        return [list(self.requests[r].block_table) for r in self.running]

    @property
    def seq_lens(self) -> list[int]:
        """Tokens of each running request whose K and V are in the cache once the step has run."""
        return [self.requests[r].num_computed_tokens for r in self.running]

    @property
    def slot_mapping(self) -> Column:
        """Where the step's new K and V go, int64, one slot a token, in scheduled order."""
        parts = [
            slots(self.requests[r].block_table, self.block_size, first, tokens)
            for r, tokens, first in self.scheduled
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    @property
    def owners(self) -> dict[int, tuple[str, ...]]:
        """Requests that hold each held block, in scenario order."""
        held: dict[int, tuple[str, ...]] = {}
        for request in self.requests.values():
            for block_id in request.block_table:
                held[block_id] = (*held.get(block_id, ()), request.request_id)
        return held

    @property
    def usage(self) -> float:
        """Share of the usable blocks that is held (vllm `BlockPool.get_usage`)."""
        usable = len(self.ref_cnt) - 1
        return 1.0 - len(self.free_queue) / usable if usable else 0.0

    @property
    def num_common_prefix_blocks(self) -> int:
        """Leading blocks that all requests with blocks share (vllm `get_num_common_prefix_blocks`).

        0 with caching off, where no block is shared.
        """
        holders = [r.block_table for r in self.requests.values() if r.block_table]
        first = self.requests[self.running[0]].block_table if self.running else ()
        return common_prefix_blocks(first, self.ref_cnt, len(holders))


def slots(block_table: Sequence[int], block_size: int, first: int, num_tokens: int) -> Column:
    """Slots of tokens [first, first + num_tokens): table[p // size] * size + p % size, int64.

    The formula of vllm/v1/worker/block_table.py `_compute_slot_mapping_kernel`.
    """
    positions = np.arange(first, first + num_tokens, dtype=np.int64)
    table = np.asarray(block_table, dtype=np.int64)
    return table[positions // block_size] * block_size + positions % block_size


def common_prefix_blocks(block_table: Sequence[int], ref_cnt: Column, num_holders: int) -> int:
    """How many leading blocks of a table are held by all `num_holders` requests."""
    count = 0
    for block_id in block_table:
        if ref_cnt[block_id] != num_holders:
            break
        count += 1
    return count
