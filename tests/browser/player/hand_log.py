"""A log written by hand, row by row, with the state it must show at each step.

Five blocks of two tokens (and the null block), requests A, B and C. A and B share the block of
their first two tokens; A runs to its length limit; C then waits for room while B fills the pool,
takes back what A left cached, and at last preempts itself and is aborted.
"""

from typing import Any

import numpy as np

from sim.columns import pack
from sim.events import EventKind as K
from sim.events import Hazard

A, B, C = 0, 1, 2
REQUESTS = [
    {"id": "A", "prompt": 3, "max_tokens": 4, "arrival_step": 0},
    {"id": "B", "prompt": 3, "max_tokens": 20, "arrival_step": 1},
    {"id": "C", "prompt": 5, "max_tokens": 1, "arrival_step": 4},
]

# Rows (kind, request, a, b, payload): each step's schedule(), after the update before it.
Row = tuple[K, int, int, int, list[int]]
STEPS: list[list[Row]] = [
    [
        (K.ARRIVE, A, 0, 0, []),
        (K.LOOKUP, A, 3, 0, []),
        (K.TAKE, A, 0, 0, [1, 2]),
        (K.CACHE, A, 0, 1, [1, 70]),
        (K.ADMIT, A, 0, 0, []),
        (K.SCHEDULE, A, 3, 0, []),
    ],
    [
        (K.ARRIVE, B, 0, 0, []),
        (K.CACHE, A, 1, 1, [2, 71]),
        (K.LOOKUP, B, 3, 2, [1]),
        (K.TOUCH, B, 0, 0, [1]),
        (K.TAKE, B, 0, 0, [3]),
        (K.ADMIT, B, 2, 0, []),
    ],
    [(K.TAKE, A, 0, 0, [4]), (K.CACHE, B, 1, 1, [3, 72])],
    [(K.CACHE, A, 2, 1, [4, 73]), (K.TAKE, B, 0, 0, [5])],
    [
        (K.RELEASE, A, 0, 2, [4, 2, 1]),
        (K.FINISH, A, 1, -1, []),
        (K.ARRIVE, C, 0, 0, []),
        (K.CACHE, B, 2, 1, [5, 74]),
        (K.LOOKUP, C, 5, 0, []),
        (K.ALLOC_FAILED, C, 5, 1, []),
    ],
    [
        (K.TAKE, B, 1, 0, [4]),
        (K.LOOKUP, C, 5, 0, []),
        (K.ALLOC_FAILED, C, 5, 2, []),
    ],
    [(K.CACHE, B, 3, 1, [4, 75])],
    [(K.TAKE, B, 1, 0, [2])],
    [(K.CACHE, B, 4, 1, [2, 76])],
    [
        (K.ALLOC_FAILED, B, 1, 1, []),
        (K.RELEASE, B, 0, 5, [2, 4, 5, 3, 1]),
        (K.PREEMPT, B, 11, 0, []),
    ],
    [
        (K.FINISH, B, 2, -1, []),
        (K.TAKE, C, 3, 0, [2, 4, 5]),
        (K.CACHE, C, 0, 2, [2, 4, 77, 78]),
        (K.ADMIT, C, 0, 0, []),
        (K.SCHEDULE, C, 5, 0, []),
    ],
    [(K.RELEASE, C, 1, 2, [5, 4, 2]), (K.FINISH, C, 1, -1, [])],
]


def state(
    free: list[int], ref: list[int], prefix: list[int], fill: list[int], **more: Any
) -> dict[str, Any]:
    """What is on show: free queue from the head; ref count, prefix and tokens of blocks 1 … 5."""
    nobody: dict[str, Any] = {"running": [], "waiting": [], "tables": {}, "computed": {}}
    zero = [0]
    blocks = {"ref": zero + ref, "prefix": [-1, *prefix], "fill": zero + fill}
    return {**nobody, "taken": [], "evicted": [], "freeQueue": free, **blocks, **more}


EXPECTED = [
    state([3, 4, 5], [1, 1, 0, 0, 0], [70, -1, -1, -1, -1], [2, 1, 0, 0, 0], running=["A"],
          tables={"A": [1, 2]}, computed={"A": 3}, taken=[1, 2]),
    state([4, 5], [2, 1, 1, 0, 0], [70, 71, -1, -1, -1], [2, 2, 1, 0, 0], running=["A", "B"],
          tables={"A": [1, 2], "B": [1, 3]}, computed={"A": 4, "B": 3}, taken=[3]),
    state([5], [2, 1, 1, 1, 0], [70, 71, 72, -1, -1], [2, 2, 2, 1, 0], running=["A", "B"],
          tables={"A": [1, 2, 4], "B": [1, 3]}, computed={"A": 5, "B": 4}, taken=[4]),
    state([], [2, 1, 1, 1, 1], [70, 71, 72, 73, -1], [2, 2, 2, 2, 1], running=["A", "B"],
          tables={"A": [1, 2, 4], "B": [1, 3, 5]}, computed={"A": 6, "B": 5}, taken=[5]),
    state([4, 2], [1, 0, 1, 0, 1], [70, 71, 72, 73, 74], [2, 2, 2, 2, 2], running=["B"],
          waiting=["C"], tables={"B": [1, 3, 5]}, computed={"B": 6, "C": 0}),
    state([2], [1, 0, 1, 1, 1], [70, 71, 72, -1, 74], [2, 2, 2, 1, 2], running=["B"],
          waiting=["C"], tables={"B": [1, 3, 5, 4]}, computed={"B": 7, "C": 0}, taken=[4],
          evicted=[4]),
    state([2], [1, 0, 1, 1, 1], [70, 71, 72, 75, 74], [2, 2, 2, 2, 2], running=["B"],
          waiting=["C"], tables={"B": [1, 3, 5, 4]}, computed={"B": 8, "C": 0}),
    state([], [1, 1, 1, 1, 1], [70, -1, 72, 75, 74], [2, 1, 2, 2, 2], running=["B"],
          waiting=["C"], tables={"B": [1, 3, 5, 4, 2]}, computed={"B": 9, "C": 0}, taken=[2],
          evicted=[2]),
    state([], [1, 1, 1, 1, 1], [70, 76, 72, 75, 74], [2, 2, 2, 2, 2], running=["B"],
          waiting=["C"], tables={"B": [1, 3, 5, 4, 2]}, computed={"B": 10, "C": 0}),
    state([2, 4, 5, 3, 1], [0] * 5, [70, 76, 72, 75, 74], [2] * 5, waiting=["B", "C"],
          computed={"B": 0, "C": 0}),
    state([3, 1], [0, 1, 0, 1, 1], [70, 77, 72, 78, -1], [2, 2, 2, 2, 1], running=["C"],
          tables={"C": [2, 4, 5]}, computed={"C": 5}, taken=[2, 4, 5], evicted=[2, 4, 5]),
    state([5, 3, 1, 4, 2], [0] * 5, [70, 77, 72, 78, -1], [2, 2, 2, 2, 0]),
]  # fmt: skip


def hand_blob(steps: list[list[Row]] = STEPS) -> bytes:
    """The log as the player gets it."""
    rows = [row for step in steps for row in step]
    kind, request, a, b, payloads = zip(*rows, strict=True)
    ends = np.cumsum([len(step) for step in steps]).astype(np.int32)
    columns = {
        "kind": np.array(kind, np.uint8),
        "request": np.array(request, np.int32),
        "a": np.array(a, np.int32),
        "b": np.array(b, np.int32),
        "payload_end": np.cumsum([len(p) for p in payloads]).astype(np.int32),
        "payload": np.array([block for p in payloads for block in p], np.int32),
        "engine_step": np.arange(len(steps), dtype=np.int32),
        "arrive_end": ends,
        "schedule_end": ends,
        "update_end": ends,
    }
    scenario = {"num_gpu_blocks": 6, "block_size": 2, "max_model_len": 32}
    return pack(
        {
            "stage": "pool",
            "scenario": scenario,
            "requests": REQUESTS,
            "num_steps": len(steps),
            "stalled": False,
            "view": {"reserve": 32},
        },
        columns,
    )


def broken_blob() -> bytes:
    """The same log, but step 5 hands out block 2, which is not at the head of the free queue."""
    steps = [list(step) for step in STEPS]
    steps[5][0] = (K.TAKE, B, 1, 0, [2])
    return hand_blob(steps[:6])


def hazard_blob() -> bytes:
    """The same log, with a step for each thing that can go wrong in vLLM itself."""
    steps = [list(step) for step in STEPS]
    for hazard in Hazard:
        blocks = [1, 3] if hazard >= Hazard.UNCOMPUTED else []
        steps[hazard].append((K.HAZARD, B, int(hazard), len(blocks) or 9, blocks))
    return hand_blob(steps)
