"""From the log to a frame: the state of pool and requests at any point of a run.

The pool is read on from the keyframe before that point. What a request has follows from the rows
about it alone: those were sorted by request once, so they are looked up.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from sim.columns import Column
from sim.frame import Frame, RequestFrame
from sim.replay.block_tables import BlockTables, Gains
from sim.replay.computed import Computed
from sim.replay.keyframes import SPACING, Keyframes
from sim.replay.lives import Alive, Lives
from sim.replay.log_rows import LogRows
from sim.replay.request_frames import RequestFrames
from sim.replay.request_rows import NO_ROW
from sim.scenario import Scenario

NO_TABLE = -1

Phase = Literal["schedule", "update"]


class Replay:
    """Any frame of a log, which is read once, here. `spacing` is that of the keyframes."""

    def __init__(
        self, scenario: Scenario, columns: Mapping[str, Column], spacing: int = SPACING
    ) -> None:
        self._scenario = scenario
        self._columns = columns
        self._ids = [spec.id for spec in scenario.requests]
        log = LogRows(columns, 0, len(columns["kind"]))
        self._lives = Lives(scenario, log)
        self._gains = Gains(log)
        self._computed = Computed(log, columns["arrive_end"], columns["schedule_end"])
        self.keyframes = Keyframes(columns, self._ref_cnt, spacing)

    def frame(self, step: int, phase: Phase = "schedule") -> Frame:
        """The frame of a step (0 .. num_steps - 1), after its `schedule()` or its update.

        Raises IndexError when the run has no such step.
        """
        num_steps = len(self._columns["engine_step"])
        if not 0 <= step < num_steps:
            raise IndexError(f"step {step} of a run of {num_steps} steps")
        row = int(self._columns[f"{phase}_end"][step])
        alive = self._lives.before(row)
        tables = self._gains.before(row, alive)
        now, computed = self._computed.at(step, row, alive)
        num_blocks, block_size = self._scenario.num_gpu_blocks, self._scenario.block_size
        ref_cnt = tables.ref_cnt(num_blocks)
        pool = self.keyframes.pool(row, ref_cnt)
        running = self._names(alive.index[alive.running])
        work = zip(running, now.tolist(), (computed - now).tolist(), strict=True)
        return Frame(
            step=step,
            engine_step=int(self._columns["engine_step"][step]),
            block_size=block_size,
            running=running,
            waiting=self._names(alive.index[alive.waiting]),
            requests=self._requests(alive, tables, computed, now if phase == "schedule" else 0),
            scheduled=tuple(entry for entry in work if entry[1]),
            ref_cnt=ref_cnt,
            free_queue=pool.free_queue,
            prefix_id=pool.prefix_id,
            cached_order=pool.cached_order,
            fill=tables.fill(computed, block_size, ref_cnt, pool.prefix_id),
        )

    def _ref_cnt(self, row: int) -> Column:
        tables = self._gains.before(row, self._lives.before(row))
        return tables.ref_cnt(self._scenario.num_gpu_blocks)

    def _names(self, index: Column) -> tuple[str, ...]:
        return tuple(self._ids[i] for i in index.tolist())

    def _requests(
        self, alive: Alive, tables: BlockTables, computed: Column, pending: Column | int
    ) -> RequestFrames:
        """All unfinished requests; `pending` tokens of the computed ones have given no output yet.

        Who has computed all tokens that it kept gets one for each step, so it has one more.
        """
        runs = alive.running
        table = np.full(len(alive.index), NO_TABLE)
        table[runs] = np.arange(len(runs))
        num_computed, num_tokens = np.zeros_like(alive.index), alive.kept_tokens.copy()
        num_computed[runs] = computed
        done = computed - pending
        num_tokens[runs] = np.where(done < num_tokens[runs], num_tokens[runs], done + 1)
        ids = self._names(alive.index)

        def make(place: int) -> RequestFrame:
            running = table[place] != NO_TABLE
            waits = "WAITING" if alive.preempted[place] == NO_ROW else "PREEMPTED"
            return RequestFrame(
                ids[place],
                "RUNNING" if running else waits,
                int(num_computed[place]),
                int(num_tokens[place]),
                int(alive.prompt_tokens[place]),
                int(alive.num_preemptions[place]),
                tables[table[place]] if running else (),
            )

        return RequestFrames(ids, make)
