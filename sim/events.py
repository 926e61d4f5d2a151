"""What happens in a run, as one columnar log.

A row is one decision: its `kind`, the `request` it is about (index in the scenario, -1 for none),
two numbers `a` and `b`, and a payload of block ids. `EventKind` says what each means. Rows come in
the order in which vLLM 0.26.0 decides; the block tables, the free queue, ref counts and hashes of
any step follow from the rows before it (sim/frame.py), and the browser replays the same columns.

A block that holds a hash loses it when it is taken: a TAKE is such a block's eviction, by its r.

A decode step inside a block changes no table, so it writes no row: a request that is running at
the end of `schedule()` without a SCHEDULE row in that step computes one token.
"""

import struct
from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from sim.columns import Column


class EventKind(IntEnum):
    """Kinds of rows; r is the row's request."""

    ARRIVE = 0  # r joins the end of waiting
    LOOKUP = 1  # the prefix cache is asked: a = tokens asked, b = tokens hit; payload = blocks hit
    TOUCH = 2  # payload = blocks hit, now first in r's table; ref_cnt + 1, out of the free queue
    TAKE = 3  # payload = blocks from the queue's head, now last in r's table; a of them lose a hash
    EVICT = 4  # payload = blocks that lose their hash where they are: nobody takes them
    CACHE = 5  # a = first logical block, b = n; payload = n blocks, then their n prefix ids
    ALLOC_FAILED = 6  # r got nothing: a = tokens asked, b = blocks missing
    RELEASE = 7  # payload = r's table reversed: a to the queue's head, b to its tail, rest held
    PREEMPT = 8  # r leaves running for the front of waiting: a = tokens it keeps
    ADMIT = 9  # r leaves waiting for the end of running: a = tokens hit, b = 1 when resumed
    SCHEDULE = 10  # a = tokens r computes in this step, when not one
    FINISH = 11  # a = a FinishReason, b = the stop token or -1
    RESET = 12  # the prefix cache was asked to forget everything: a = 1 when it did
    HAZARD = 13  # vLLM misbehaves here, and so do we: a = a Hazard, b and payload as it says


class FinishReason(IntEnum):
    """Why a request ended (vllm/v1/engine `FinishReason`)."""

    STOP = 0
    LENGTH = 1
    ABORT = 2


class Hazard(IntEnum):
    """What goes wrong in vLLM 0.26.0 itself; the run follows it, and the log says so."""

    NEVER_FITS = 0  # r needs b blocks, more than there are: it waits, and all behind it, for ever
    OUTGREW_POOL = 1  # r runs alone and found no block: it gives way to itself, and comes back
    PAST_MAX_MODEL_LEN = 2  # min_tokens is not reached at max_model_len: r stays, and gets nothing
    UNCOMPUTED = 3  # r, a victim, got hashes for b blocks (the payload) that nobody will compute
    READS_UNCOMPUTED = 4  # r hit b blocks (the payload) whose tokens nobody computed


ROW_COLUMNS = {"kind": np.uint8, "request": np.int32, "a": np.int32, "b": np.int32}
ROW_NUMBERS = len(ROW_COLUMNS) + 1  # and the length of the payload
STEP_COLUMNS = ("engine_step", "arrive_end", "schedule_end", "update_end")
PACKED_AT_ONCE = 1 << 12  # numbers


class LogBuilder:
    """The log while a run goes on, handed to whoever decides.

    Rows are gathered in lists, which are quick, and packed now and then, which is small. Who has
    many appends to the lists: to `rows` kind, request, a, b and the length of the payload of each.
    """

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.payload: list[int] = []
        self._steps: list[int] = []
        self._packed_rows: list[Column] = []
        self._packed_payload: list[Column] = []
        self._num_packed = 0

    @property
    def num_rows(self) -> int:
        """Rows so far."""
        return self._num_packed + len(self.rows) // ROW_NUMBERS

    def record(
        self, kind: int, request: int, a: int = 0, b: int = 0, payload: Sequence[int] = ()
    ) -> None:
        """Append one row."""
        self.rows += (kind, request, a, b, len(payload))
        self.payload += payload

    def end_step(self, engine_step: int, arrive_end: int, schedule_end: int) -> None:
        """Close a step; the ends are row counts taken after each of its phases."""
        self._steps += (engine_step, arrive_end, schedule_end, self.num_rows)
        if len(self.rows) > PACKED_AT_ONCE or len(self.payload) > PACKED_AT_ONCE:
            self._pack()

    def columns(self) -> dict[str, Column]:
        """All columns as NumPy arrays."""
        self._pack()
        self._packed_rows = [np.concatenate(self._packed_rows)]
        self._packed_payload = [np.concatenate(self._packed_payload)]
        *rows, lengths = self._packed_rows[0].T
        steps = _packed(self._steps).reshape(-1, len(STEP_COLUMNS)).T
        named_rows = zip(ROW_COLUMNS.items(), rows, strict=True)
        return {
            **{name: row.astype(code) for (name, code), row in named_rows},
            "payload_end": np.cumsum(lengths, dtype=np.int32),
            **{name: column.copy() for name, column in zip(STEP_COLUMNS, steps, strict=True)},
            "payload": self._packed_payload[0],
        }

    def _pack(self) -> None:
        self._num_packed = self.num_rows
        self._packed_rows.append(_packed(self.rows).reshape(-1, ROW_NUMBERS))
        self._packed_payload.append(_packed(self.payload))
        self.rows.clear()
        self.payload.clear()


def _packed(numbers: list[int]) -> Column:
    """As int32; by way of `struct`, which reads a list twice as fast as NumPy."""
    return np.frombuffer(struct.pack(f"{len(numbers)}i", *numbers), np.int32)
