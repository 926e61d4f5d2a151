"""Slots held but empty over the whole run, paged and with one piece of memory for each request."""

from functools import partial

import pandas as pd
import streamlit as st

from pages.figures.allocation_words import shares_told, unfinished_told
from pages.ui.allocation_chart import show
from pages.ui.downloads import figure_file, part_files, table_file
from pages.ui.runs import SimulatedRun
from pages.ui.theme import shown_theme
from sim.block_sizes import usable_slots
from sim.contiguous import Reservation
from sim.waste_history import WasteHistory, contiguous_history

ORDER = (Reservation.ORACLE, Reservation.POW2, Reservation.MAX)  # from little waste to much
TITLE = "Waste in every step, paged and with Orca’s three reservations"
NOTE = (
    "Computed, at the steps of the paged run. The share beside a name counts every slot that is "
    "held in a step, over all steps, and says how many of them have no token; slots lost to "
    "rounding and gaps are held by nobody, and come on top."
)


def waste_over_time(run: SimulatedRun, step: int) -> None:
    """The shares in a line, and below it, when it is opened, the figure with its playhead."""
    ways = ways_of(run)
    st.markdown(f"**Held but empty, over the run**: {shares_told(ways)}")
    part = st.expander(TITLE, key="allocation.waste", on_change="rerun")
    if part.open:
        with part:
            _figure(run, ways, step)


def ways_of(run: SimulatedRun) -> dict[str, WasteHistory]:
    """All ways of holding memory at the steps of the paged run, by name."""
    steps = run.log.columns["engine_step"]
    beside = {how.label: contiguous_history(run.baselines[how], steps) for how in ORDER}
    return {"Paged": run.paged_waste, **beside}


def table_of(ways: dict[str, WasteHistory]) -> pd.DataFrame:
    """A row for each way and step."""
    parts = [
        pd.DataFrame(
            {
                "memory": name,
                "step": range(len(way.used)),
                "running": way.running,
                "slots held": way.held,
                "with a token": way.used,
                "will get one": way.reserved,
                "never will": way.internal,
                "lost to rounding and gaps": way.external,
            }
        )
        for name, way in ways.items()
    ]
    return pd.concat(parts, ignore_index=True)


def _figure(run: SimulatedRun, ways: dict[str, WasteHistory], step: int) -> None:
    from pages.figures.allocation_waste import scale_told, waste_figure

    scenario, last = run.log.scenario, int(run.log.columns["engine_step"][-1])
    slots = usable_slots(scenario)
    make = partial(waste_figure, ways, slots, step, shown_theme())
    alt = f"Held but empty, over the run: {shares_told(ways)}"
    show(make(), f"{scenario.name}, waste", alt)
    told = [NOTE, unfinished_told(run.baselines, last), scale_told(ways, slots)]
    st.caption(" ".join(filter(None, told)))
    table = table_file("Waste", lambda: table_of(ways))
    part_files(scenario.name, table, figure_file("Waste", make, at=f", step {step}"))
