"""From the log to a frame: the state of pool and requests at any point of a run.

Every value is the last write, or the sum, of the rows before that point, so NumPy finds it without
running the engine again: ref counts add up, a block's hash is its last CACHE or EVICT, and the free
queue is the free blocks in the order of the keys they got when they were last let go.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from sim.columns import Column
from sim.events import EventKind
from sim.frame import Frame, RequestFrame
from sim.lives import Life, Lives
from sim.scenario import Scenario

Phase = Literal["schedule", "update"]


def frame_at(
    scenario: Scenario, columns: Mapping[str, Column], step: int, phase: Phase = "schedule"
) -> Frame:
    """The frame of a step (0 .. num_steps - 1), after its `schedule()` or its update.

    Raises IndexError when the run has no such step.
    """
    num_steps = len(columns["engine_step"])
    if not 0 <= step < num_steps:
        raise IndexError(f"step {step} of a run of {num_steps} steps")
    rows = _Rows(columns, scenario.num_gpu_blocks, int(columns[f"{phase}_end"][step]))
    lives = Lives(scenario)
    lives.replay(rows.kind, rows.request, rows.a)
    running = lives.running
    tokens = _Tokens(rows, running, step)
    tables = _block_tables(rows, lives.all)
    requests = {
        life.spec.id: RequestFrame(
            life.spec.id,
            life.status,
            tokens.computed(life),
            tokens.total(life, phase),
            life.spec.prompt.num_tokens,
            life.num_preemptions,
            tuple(tables[index]),
        )
        for index, life in sorted(lives.all.items())
    }
    ref_cnt = _ref_cnt(rows)
    prefix_id, cached_order = _hashes(rows)
    return Frame(
        step=step,
        engine_step=int(columns["engine_step"][step]),
        block_size=scenario.block_size,
        running=tuple(life.spec.id for life in running),
        waiting=tuple(life.spec.id for life in lives.waiting),
        requests=requests,
        scheduled=tokens.scheduled(running),
        ref_cnt=ref_cnt,
        free_queue=_free_queue(rows, ref_cnt),
        prefix_id=prefix_id,
        cached_order=cached_order,
        fill=_fill(requests, prefix_id, scenario.block_size),
    )


class _Rows:
    """The rows before a point, and where their payloads lie."""

    def __init__(self, columns: Mapping[str, Column], num_blocks: int, end: int) -> None:
        self.num_blocks = num_blocks
        self.kind, self.request = columns["kind"][:end], columns["request"][:end]
        self.a, self.b = columns["a"][:end], columns["b"][:end]
        self.payload = columns["payload"]
        self.stop = columns["payload_end"][:end].astype(np.int64)
        self.start = np.concatenate([np.zeros(1, np.int64), self.stop])[:end]
        self._schedule_end = columns["schedule_end"]

    def of(self, *kinds: EventKind) -> Column:
        """Indices of the rows of some kinds, in order."""
        return np.flatnonzero(np.isin(self.kind, kinds))

    def step_of(self, rows: Column) -> Column:
        """In which step's `schedule()` each row was written."""
        return np.searchsorted(self._schedule_end, rows, side="right")


def _spans(starts: Column, lengths: Column) -> Column:
    """The positions start .. start + length of every span, one after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


class _Tokens:
    """What each running request has computed: explicit SCHEDULE rows, and one token a step else."""

    def __init__(self, rows: _Rows, running: list[Life], step: int) -> None:
        size = max((life.index for life in running), default=-1) + 1
        admitted = np.full(max(size, int(rows.request.max(initial=-1)) + 1), len(rows.kind))
        admitted[[life.index for life in running]] = [life.admitted_row for life in running]
        explicit = rows.of(EventKind.SCHEDULE)
        explicit = explicit[explicit > admitted[rows.request[explicit]]]
        who = rows.request[explicit]
        self._explicit = np.bincount(who, minlength=len(admitted))
        self._tokens = np.bincount(who, rows.a[explicit], minlength=len(admitted)).astype(np.int64)
        now = rows.step_of(explicit) == step
        self._now = dict(zip(who[now].tolist(), rows.a[explicit][now].tolist(), strict=True))
        self._admitted_step = rows.step_of(admitted)
        self._step = step

    def computed(self, life: Life) -> int:
        """Tokens whose K and V are in the cache once the step has run."""
        if life.status != "RUNNING":
            return 0
        i = life.index
        steps = self._step - int(self._admitted_step[i]) + 1
        return life.hit_tokens + steps - int(self._explicit[i]) + int(self._tokens[i])

    def now(self, life: Life) -> int:
        """Tokens that the request computes in this step."""
        return int(self._now.get(life.index, 1))

    def total(self, life: Life, phase: Phase) -> int:
        """Tokens that exist: after the update, one more than computed once all were computed."""
        if life.status != "RUNNING":
            return life.kept_tokens
        computed = self.computed(life)
        if phase == "schedule":
            computed -= self.now(life)
        return life.kept_tokens if computed < life.kept_tokens else computed + 1

    def scheduled(self, running: list[Life]) -> tuple[tuple[str, int, int], ...]:
        """(id, tokens, first position) of those that compute in this step."""
        return tuple(
            (life.spec.id, self.now(life), self.computed(life) - self.now(life))
            for life in running
            if self.now(life)
        )


def _block_tables(rows: _Rows, lives: dict[int, Life]) -> dict[int, list[int]]:
    """What each request took and touched since it last gave its blocks back."""
    tables: dict[int, list[int]] = {index: [] for index in lives}
    for row in rows.of(EventKind.TOUCH, EventKind.TAKE).tolist():
        life = lives.get(int(rows.request[row]))
        if life is not None and row > life.released_row:
            tables[life.index].extend(rows.payload[rows.start[row] : rows.stop[row]].tolist())
    return tables


def _ref_cnt(rows: _Rows) -> Column:
    held, let_go = (
        rows.payload[_spans(rows.start[r], rows.stop[r] - rows.start[r])]
        for r in (rows.of(EventKind.TOUCH, EventKind.TAKE), rows.of(EventKind.RELEASE))
    )
    n = rows.num_blocks
    return (np.bincount(held, minlength=n) - np.bincount(let_go, minlength=n)).astype(np.int32)


def _free_queue(rows: _Rows, ref_cnt: Column) -> Column:
    """Free blocks by key: ids at first, then counting up at the tail and down at the head."""
    n = rows.num_blocks
    key = np.arange(n, dtype=np.int64)
    release = rows.of(EventKind.RELEASE)
    to_head, to_tail = rows.a[release].astype(np.int64), rows.b[release].astype(np.int64)
    first_head = -np.cumsum(to_head)
    first_tail = n + np.cumsum(to_tail) - to_tail
    start = rows.start[release]
    at_head, at_tail = _spans(start, to_head), _spans(start + to_head, to_tail)
    position = np.concatenate([at_head, at_tail])
    value = np.concatenate([_spans(first_head, to_head), _spans(first_tail, to_tail)])
    _write_in_order(key, rows.payload, position, value)
    free = np.flatnonzero(ref_cnt == 0)
    free = free[free > 0]
    return free[np.argsort(key[free])].astype(np.int32)


def _hashes(rows: _Rows) -> tuple[Column, Column]:
    """Each block's prefix id and when it got it; -1 where its last write was an eviction."""
    prefix_id = np.full(rows.num_blocks, -1, np.int32)
    cached_order = np.full(rows.num_blocks, -1, np.int64)
    resets = rows.of(EventKind.RESET)
    since = max(resets[rows.a[resets] == 1].tolist(), default=-1)
    cache, evict = rows.of(EventKind.CACHE), rows.of(EventKind.EVICT)
    cache, evict = cache[cache > since], evict[evict > since]
    count = rows.b[cache].astype(np.int64)
    gained = _spans(rows.start[cache], count)
    lost = _spans(rows.start[evict], rows.stop[evict] - rows.start[evict])
    position = np.concatenate([gained, lost])
    names = rows.payload[_spans(rows.start[cache] + count, count)]
    value = np.concatenate([names, np.full(len(lost), -1, np.int32)])
    _write_in_order(prefix_id, rows.payload, position, value)
    _write_in_order(cached_order, rows.payload, position, position)
    return prefix_id, cached_order


def _write_in_order(target: Column, payload: Column, position: Column, value: Column) -> None:
    """target[payload[position]] = value, in order of position, so that the last write stays."""
    order = np.argsort(position, kind="stable")
    target[payload[position[order]]] = value[order]


def _fill(requests: dict[str, RequestFrame], prefix_id: Column, block_size: int) -> Column:
    """Tokens in each block: what its holder has computed there; a hashed block is full."""
    fill = np.where(prefix_id >= 0, block_size, 0).astype(np.int32)
    for request in requests.values():
        table = np.asarray(request.block_table, np.int64)
        first = np.arange(len(table)) * block_size
        held = np.clip(request.num_computed_tokens - first, 0, block_size)
        fill[table] = np.maximum(fill[table], held)
    return fill
