"""A finished run: its columns, and what can be asked of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from sim.columns import Column, pack, unpack
from sim.frame import Frame
from sim.replay import Phase, Replay
from sim.replay.keyframes import SPACING
from sim.scenario import Scenario

FORMAT = "pagedattention-log/2"
LONG = 2 * SPACING  # bytes of a log that is not read within its first frame


@dataclass(frozen=True, eq=False)
class EventLog:
    """A finished run: the scenario, and the columns that every figure is a function of.

    `stalled` says that the run was cut because nothing could ever run again.
    """

    scenario: Scenario
    columns: dict[str, Column]
    stalled: bool

    def __post_init__(self) -> None:
        if sum(column.nbytes for column in self.columns.values()) > LONG:
            _ = self.replay

    @cached_property
    def replay(self) -> Replay:
        """What frames are read with: made at once, or for a short log with its first frame."""
        return Replay(self.scenario, self.columns)

    @property
    def num_steps(self) -> int:
        """Steps of the engine that were run; the last one usually schedules nothing."""
        return len(self.columns["engine_step"])

    def frame(self, step: int, phase: Phase = "schedule") -> Frame:
        """The state after `schedule()` of a step, or after its update.

        Raises IndexError when the step is not in 0 .. num_steps - 1.
        """
        return self.replay.frame(step, phase)

    def payload(self, row: int) -> Column:
        """The block ids of a row."""
        end = self.columns["payload_end"]
        return self.columns["payload"][end[row - 1] if row else 0 : end[row]]

    def header(self) -> dict[str, Any]:
        """What the columns are about, small enough to travel with them: no token ids."""
        engine = self.scenario.to_json()
        engine.pop("requests")
        requests = [
            {
                "id": spec.id,
                "prompt": spec.prompt.num_tokens,
                "max_tokens": spec.max_tokens,
                "arrival_step": spec.arrival_step,
            }
            for spec in self.scenario.requests
        ]
        return {
            "format": FORMAT,
            "scenario": {**engine, "max_model_len": self.scenario.max_model_len},
            "requests": requests,
            "num_steps": self.num_steps,
            "stalled": self.stalled,
        }

    def to_bytes(self) -> bytes:
        """The log as one file: the whole scenario and the columns."""
        header = {"format": FORMAT, "scenario": self.scenario.to_json(), "stalled": self.stalled}
        return pack(header, self.columns)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The log of `to_bytes`. Raises ValueError when the bytes are something else."""
        header, columns = unpack(data)
        if header.get("format") != FORMAT:
            raise ValueError(f"not a log of this version: format is {header.get('format')!r}")
        return cls(Scenario.from_json(header["scenario"]), columns, header["stalled"])
