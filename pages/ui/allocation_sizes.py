"""What the block size does: the same requests in the same slots, simulated with each size."""

from dataclasses import asdict
from functools import partial
from operator import getitem

import pandas as pd
import streamlit as st

from pages.figures.allocation_words import left_out_told, sizes_told
from pages.ui.allocation_chart import show
from pages.ui.cancellable import Bar
from pages.ui.downloads import figure_file, part_files, table_file
from pages.ui.recent import Recent
from pages.ui.theme import shown_theme
from sim.block_sizes import ENTRY_BYTES, BlockSizeRun, sizes_for, sweep, usable_slots
from sim.scenario import Scenario

KEPT = 64
QUICK = 5_000  # tokens of all requests together; with more, the visitor is asked first
TITLE = "What the block size does to tail waste, table length and prefix hits"
NOTE = (
    "Computed, each size by a simulation of its own: the same requests and the same {slots:,} "
    "slots, in as many whole blocks as they make, and the null block. A share counts every slot "
    "that is held in a step, over all steps of the run. An entry of a block table is 4 bytes, and "
    "tokens found are those of new requests."
)


@st.cache_resource(show_spinner=False)
def _recent() -> Recent[Scenario, list[BlockSizeRun]]:
    return Recent(KEPT)


def block_sizes(scenario: Scenario) -> None:
    """The charts, when they are opened; for many tokens they come when a button is pressed.

    It stands outside the player's fragment: a control there would not end a running sweep.
    """
    part = st.expander(TITLE, key="allocation.sizes", on_change="rerun")
    if part.open:
        with part:
            runs = _sweep_of(scenario)
            if runs:
                _charts(scenario, runs)


def table_of(runs: list[BlockSizeRun]) -> pd.DataFrame:
    """A row for each size; without numbers where the run never ends."""
    table = pd.DataFrame(map(asdict, runs)).convert_dtypes()
    table["longest_bytes"] = table["longest"] * ENTRY_BYTES
    table.loc[table["stalled"], list(table.columns[3:])] = pd.NA
    return table


def _charts(scenario: Scenario, runs: list[BlockSizeRun]) -> None:
    from pages.figures.allocation_sizes import size_figures

    current, slots = scenario.block_size, usable_slots(scenario)
    told = sizes_told(runs, current)
    st.markdown(told)
    figures = size_figures(runs, current, shown_theme())
    for place, (name, figure) in zip(st.columns(3), figures.items(), strict=True):
        with place:
            title = f"{name} by block size"
            show(figure, f"{scenario.name}, {title}", alt=f"{title}. {told.replace('**', '')}")
    st.caption(" ".join(filter(None, [NOTE.format(slots=slots), left_out_told(runs, slots)])))
    charts = (
        figure_file(f"{name} by block size", partial(getitem, figures, name)) for name in figures
    )
    part_files(scenario.name, table_file("Block sizes", lambda: table_of(runs)), *charts)


def _sweep_of(scenario: Scenario) -> list[BlockSizeRun] | None:
    """What was kept, or is quick, or was asked for."""
    runs = _recent().get(scenario)
    if runs is None and (_is_quick(scenario) or _asked(scenario)):
        runs = _swept(scenario)
        _recent().put(scenario, runs)
    return runs


def _is_quick(scenario: Scenario) -> bool:
    return sum(s.prompt.num_tokens + s.max_tokens for s in scenario.requests) <= QUICK


def _asked(scenario: Scenario) -> bool:
    """Was the button pressed just now?"""
    sizes = len(sizes_for(scenario))
    return st.button(f"Simulate all {sizes} block sizes", key="allocation.sizes.go")


def _swept(scenario: Scenario) -> list[BlockSizeRun]:
    """The sweep under a bar; to cancel is to start the page over without asking for it."""
    place = st.empty()
    bar = Bar(place, "allocation.sizes.cancel", lambda: None)
    runs = sweep(scenario, lambda share: bar.show(share, f"Simulating: {100 * share:.0f} %"))
    place.empty()
    return runs
