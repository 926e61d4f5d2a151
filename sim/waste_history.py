"""Where the slots went in every step of a run, as columns: `sim.waste` for all steps at once."""

from dataclasses import dataclass

import numpy as np

from sim.columns import Column
from sim.contiguous import ContiguousRun
from sim.contiguous.reservation import stored_slots
from sim.event_log import EventLog
from sim.pressure import Pressure
from sim.table_lengths import TableLengths


@dataclass(frozen=True, slots=True)
class WasteHistory:
    """Slots by step, as `Waste` names them."""

    running: Column
    used: Column
    reserved: Column
    internal: Column
    external: Column

    @property
    def held(self) -> Column:
        """Slots that requests hold."""
        return self.used + self.reserved + self.internal

    @property
    def empty_share(self) -> float:
        """Of all slots held, each counted in every step of the run, the share without a token."""
        held = int(self.held.sum())
        return 1.0 - int(self.used.sum()) / held if held else 0.0


def paged_history(log: EventLog, columns: Pressure, tables: TableLengths) -> WasteHistory:
    """The paged pool in every step: what `paged_waste` says of each frame.

    A table's slots past the last token its request will store never get one.
    """
    size, specs = log.scenario.block_size, log.scenario.requests
    stored = np.array([stored_slots(log.scenario, spec) for spec in specs], np.int64)
    never = tables.total(np.maximum(tables.length * size - stored[tables.request], 0))
    return WasteHistory(
        running=columns.running,
        used=columns.used * size - columns.tail_waste,
        reserved=columns.tail_waste - never,
        internal=never,
        external=np.zeros_like(never),
    )


def contiguous_history(run: ContiguousRun, engine_steps: Column) -> WasteHistory:
    """A baseline at the engine steps of another run; all zero after its end."""
    columns = run.at(engine_steps)
    names = ("running", "used", "reserved", "internal", "external")
    return WasteHistory(*(columns[name] for name in names))
