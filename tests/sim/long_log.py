"""A log of millions of payload ints, written down without running an engine.

One request arrives a step and takes its blocks at once. All its outputs go to its last block, which
is never full: when the request ends it goes to the head of the queue, and the next request begins
with it. The other blocks are hashed, go to the tail, last one first, and come round again.
"""

from dataclasses import dataclass

import numpy as np

from sim.events import EventKind, FinishReason
from sim.prompt import HashedPrompt
from sim.scenario import RequestSpec, Scenario

BLOCK_SIZE = 8192
KINDS = [
    EventKind.ARRIVE,
    EventKind.LOOKUP,
    EventKind.TAKE,
    EventKind.CACHE,
    EventKind.ADMIT,
    EventKind.SCHEDULE,
    EventKind.RELEASE,
    EventKind.FINISH,
]


@dataclass(frozen=True)
class LongLog:
    """Scenario and columns; `tables[i]` are the blocks of request i, which arrives in step i.

    Request i ends in step i + life. `queue` has all blocks that ever stood in the queue but those
    put at its head; after step i's update those from head[i] to tail[i] stand there.
    """

    scenario: Scenario
    columns: dict
    tables: np.ndarray
    life: int
    queue: np.ndarray
    head: np.ndarray
    tail: np.ndarray

    def free_queue(self, step):
        """The queue after the update of a step in which a request ended."""
        first = self.tables[step - self.life, -1:]
        return np.concatenate([first, self.queue[self.head[step] : self.tail[step]]])


def long_log(num_blocks, num_steps, num_taken, life):
    """The log of `num_steps` requests of `num_taken` blocks; `life` is below BLOCK_SIZE."""
    step = np.arange(num_steps)
    ended = step - life  # who ends in a step, if not negative
    head = np.cumsum(np.where(step - 1 >= life, num_taken - 1, num_taken))
    tail = num_blocks - 1 + (num_taken - 1) * np.maximum(ended + 1, 0)
    assert (head <= np.concatenate([[num_blocks - 1], tail[:-1]])).all(), "the pool is too small"
    tables, queue = _take_turns(num_blocks, num_taken, life, head, tail)
    tokens = (num_taken - 1) * BLOCK_SIZE + 1
    prompt = HashedPrompt((0,), tokens, tokens)
    requests = tuple(RequestSpec(f"r{i}", i, prompt, life + 1) for i in range(num_steps))
    scenario = Scenario(num_blocks, BLOCK_SIZE, requests, max_model_len=tokens + life + 2)
    evicted = np.clip(head - (num_blocks - 1), 0, num_taken - (step - 1 >= life))
    columns = _columns(tables, ended, evicted, tokens)
    return LongLog(scenario, columns, tables, life, queue, head, tail)


def _take_turns(num_blocks, num_taken, life, head, tail):
    """What each request takes, and the queue."""
    queue = np.empty(tail[-1], np.int32)
    queue[: num_blocks - 1] = np.arange(1, num_blocks)
    tables = np.empty((len(head), num_taken), np.int32)
    start, end = 0, num_blocks - 1
    for i, table in enumerate(tables):
        from_queue = table[int(i > life) :]
        from_queue[:] = queue[start : start + len(from_queue)]
        if i > life:
            table[0] = tables[i - 1 - life, -1]
        if i >= life:
            queue[end : end + num_taken - 1] = tables[i - life, -2::-1]
        start, end = int(head[i]), int(tail[i])
    return tables, queue


def _columns(tables, ended, evicted, tokens):
    num_steps, n = tables.shape
    there = np.ones((num_steps, len(KINDS)), bool)
    there[:, -2:] = (ended >= 0)[:, None]
    request = np.repeat(np.arange(num_steps)[:, None], len(KINDS), 1)
    request[:, -2:] = ended[:, None]
    length = np.broadcast_to([0, 0, n, 2 * (n - 1), 0, 0, n, 0], there.shape)
    a = np.broadcast_to([0, tokens, 0, 0, 0, tokens, 1, FinishReason.LENGTH], there.shape).copy()
    a[:, KINDS.index(EventKind.TAKE)] = evicted
    b = np.broadcast_to([0, 0, 0, n - 1, 0, 0, n - 1, -1], there.shape)
    kind = np.broadcast_to(np.array(KINDS, np.uint8), there.shape)
    end = np.cumsum(there.sum(1))
    start = end - there.sum(1)
    steps = {
        "engine_step": np.arange(num_steps),
        "arrive_end": start + 1,
        "schedule_end": start + there[:, :-2].sum(1),
        "update_end": end,
    }
    rows = {"request": request[there], "a": a[there], "b": b[there]}
    columns = {"kind": kind[there], **rows, "payload_end": np.cumsum(length[there]), **steps}
    payload = _payload(tables, ended)
    integers = {name: column.astype(np.int32) for name, column in columns.items() if name != "kind"}
    return {"kind": columns["kind"], **integers, "payload": payload}


def _payload(tables, ended):
    """Taken, cached with their prefix ids, let go: those of a step in a line."""
    num_steps, n = tables.shape
    names = np.arange(num_steps * (n - 1), dtype=np.int32).reshape(num_steps, n - 1)
    parts = [tables, tables[:, :-1], names, tables[ended, ::-1]]
    there = np.ones((num_steps, 4 * n - 2), bool)
    there[:, -n:] = (ended >= 0)[:, None]
    return np.concatenate(parts, 1)[there]
