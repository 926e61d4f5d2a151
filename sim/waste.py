"""Where the slots of a moment went: paged, and with one piece of memory for each request."""

from dataclasses import dataclass

import numpy as np

from sim.contiguous import ContiguousRun
from sim.contiguous.reservation import stored_slots
from sim.frame import Frame
from sim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Waste:
    """Slots at one engine step; the names are those of the vLLM paper (arXiv 2309.06180, Fig. 2).

    `used` slots hold a token, `reserved` ones are held and will, `internal` ones are held and never
    will; `external` ones are lost to the allocator (`ContiguousRun` says which).
    """

    running: int
    used: int
    reserved: int
    internal: int
    external: int

    @property
    def held(self) -> int:
        """Slots that requests hold."""
        return self.used + self.reserved + self.internal

    @property
    def empty_share(self) -> float:
        """Share of the held slots without a token; 0 when none is held."""
        return 1.0 - self.used / self.held if self.held else 0.0


def paged_waste(scenario: Scenario, frame: Frame) -> Waste:
    """Slots of the paged pool in a frame. Any free block is of use to anyone: none is external."""
    held = int((frame.ref_cnt > 0).sum()) * frame.block_size
    used = int(frame.fill[frame.ref_cnt > 0].sum())
    specs = {spec.id: spec for spec in scenario.requests}
    reserved = 0
    for name in frame.running:
        request, spec = frame.requests[name], specs[name]
        room = min(stored_slots(scenario, spec), len(request.block_table) * frame.block_size)
        reserved += max(room - request.num_computed_tokens, 0)
    return Waste(len(frame.running), used, reserved, held - used - reserved, 0)


def contiguous_waste(run: ContiguousRun, engine_step: int) -> Waste:
    """Slots of a baseline at an engine step; all zero after its end."""
    columns = run.at(np.array([engine_step]))
    names = ("running", "used", "reserved", "internal", "external")
    return Waste(*(int(columns[name][0]) for name in names))
