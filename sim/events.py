"""What happens in a run, as one columnar log.

A row is one decision: its `kind`, the `request` it is about (index in the scenario, -1 for none),
two numbers `a` and `b`, and a payload of block ids. `EventKind` says what each means. Rows come in
the order in which vLLM 0.26.0 decides; the block tables, the free queue, ref counts and hashes of
any step follow from the rows before it (sim/frame.py), and the browser replays the same columns.

A decode step inside a block changes no table, so it writes no row: a request that is running at
the end of `schedule()` without a SCHEDULE row in that step computes one token.
"""

from array import array
from collections.abc import Callable, Sequence
from enum import IntEnum

import numpy as np

from sim.columns import Column


class EventKind(IntEnum):
    """Kinds of rows; r is the row's request."""

    ARRIVE = 0  # r joins the end of waiting
    LOOKUP = 1  # the prefix cache is asked: a = tokens asked, b = tokens hit; payload = blocks hit
    TOUCH = 2  # payload = blocks hit, now first in r's table; ref_cnt + 1, out of the free queue
    TAKE = 3  # payload = blocks popped from the head of the free queue, appended to r's table
    EVICT = 4  # payload = blocks that lose their hash, to be taken by r
    CACHE = 5  # a = first logical block, b = n; payload = n blocks, then their n prefix ids
    ALLOC_FAILED = 6  # r got nothing: a = tokens asked, b = blocks missing
    RELEASE = (
        7  # payload = r's table reversed: a to the head of the queue, b to its tail, rest held
    )
    PREEMPT = 8  # r leaves running for the front of waiting: a = tokens it keeps
    ADMIT = 9  # r leaves waiting for the end of running: a = tokens hit, b = 1 when resumed
    SCHEDULE = 10  # a = tokens r computes in this step, when not one
    FINISH = 11  # a = a FinishReason, b = the stop token or -1
    RESET = 12  # the prefix cache was asked to forget everything: a = 1 when it did


class FinishReason(IntEnum):
    """Why a request ended (vllm/v1/engine `FinishReason`)."""

    STOP = 0
    LENGTH = 1
    ABORT = 2


Record = Callable[..., None]  # (kind, request, a=0, b=0, payload=())

ROW_COLUMNS = {"kind": "B", "request": "i", "a": "i", "b": "i", "payload_end": "i"}
STEP_COLUMNS = ("engine_step", "arrive_end", "schedule_end", "update_end")


class LogBuilder:
    """The log while a run goes on. `record` is handed to whoever decides."""

    def __init__(self) -> None:
        self._rows = {name: array(code) for name, code in ROW_COLUMNS.items()}
        self._steps = {name: array("i") for name in STEP_COLUMNS}
        self._payload = array("i")

    def record(
        self, kind: EventKind, request: int, a: int = 0, b: int = 0, payload: Sequence[int] = ()
    ) -> None:
        """Append one row."""
        self._payload.extend(payload)
        rows = self._rows
        rows["kind"].append(kind)
        rows["request"].append(request)
        rows["a"].append(a)
        rows["b"].append(b)
        rows["payload_end"].append(len(self._payload))

    @property
    def num_rows(self) -> int:
        """Rows so far."""
        return len(self._rows["kind"])

    def end_step(self, engine_step: int, arrive_end: int, schedule_end: int) -> None:
        """Close a step; the ends are row counts taken after each of its phases."""
        ends = (engine_step, arrive_end, schedule_end, self.num_rows)
        for name, value in zip(STEP_COLUMNS, ends, strict=True):
            self._steps[name].append(value)

    def columns(self) -> dict[str, Column]:
        """All columns as NumPy arrays."""
        named = {**self._rows, **self._steps, "payload": self._payload}
        return {name: np.array(column) for name, column in named.items()}
