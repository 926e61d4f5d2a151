"""Why a block is in a request's table: read back from the log, in words."""

import numpy as np

from sim.event_log import EventLog
from sim.events import EventKind
from sim.verdict.cache_history import CacheHistory

NAMED = 5  # blocks named one by one, before "and so on"


def why_block(log: EventLog, step: int, request_id: str, block: int) -> str:
    """How `block` came into the table that the request has at `step`, in one or two sentences.

    The block must be in that table.
    """
    row = _row_of(log, step, request_id, block)
    then = int(np.searchsorted(log.columns["schedule_end"], row, side="right"))
    blocks = log.payload(row).tolist()
    if log.columns["kind"][row] == EventKind.TOUCH:
        return (
            f"At step {then:,} the prefix cache was asked for {request_id}: block {block} already "
            f"held these tokens, so {request_id} holds it too and computes nothing of it."
        )
    place = blocks.index(block)
    before = blocks[max(0, place - NAMED) : place]
    where = f"was next in the free queue after {_list(before)}" if before else "was at its head"
    asked = f"{len(blocks)} blocks" if len(blocks) > 1 else "a block"
    lost = " Its old hash was dropped for that." if _lost_hash(log, row, block) else ""
    return (
        f"At step {then:,} {request_id} asked the free queue for {asked}, and block {block} "
        f"{where}. Nobody chose it: an id carries no order.{lost}"
    )


def _row_of(log: EventLog, step: int, request_id: str, block: int) -> int:
    """The last row up to `step` that put the block into the request's table."""
    ids = [spec.id for spec in log.scenario.requests]
    columns, end = log.columns, int(log.columns["schedule_end"][step])
    ours = columns["request"][:end] == ids.index(request_id)
    puts = np.isin(columns["kind"][:end], (EventKind.TAKE, EventKind.TOUCH))
    rows = np.flatnonzero(ours & puts)[::-1]
    return int(next(row for row in rows if block in log.payload(row)))


def _lost_hash(log: EventLog, row: int, block: int) -> bool:
    """Was the block evicted by this TAKE?"""
    evicted = int(log.columns["a"][row])
    if evicted in (0, len(log.payload(row))):
        return evicted > 0
    return CacheHistory(log).held_hash(block, row)


def _list(blocks: list[int]) -> str:
    return ", ".join(map(str, blocks[:-1])) + (" and " if blocks[:-1] else "") + str(blocks[-1])
