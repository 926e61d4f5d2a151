"""The player of Memory layout, and below it the same loads in all layouts, as numbers."""

import pandas as pd
import streamlit as st

from pages.figures.layout import axes_words, layout_blob
from pages.player import player
from pages.ui.layout_controls import CACHES, LayoutChoice
from pages.ui.step import asked_step, keep_step
from sim.layout import Cache, Layout, cost, loads

OPENING = 3  # the load that reads d 24 to 31 of 16-bit keys


@st.fragment
def layout_stage(choice: LayoutChoice) -> None:
    """Only this part runs again when the player stops."""
    last = len(loads(choice.cache, choice.shape).slot) - 1
    blob = layout_blob(choice.sides, choice.cache, choice.shape, choice.at)
    state = player(blob, key="layout", step=asked_step(last, min(OPENING, last)))
    keep_step(state.step)
    arrow, table = st.columns((1, 1.5), gap="medium")
    with arrow:
        _both_ways(choice)
    with table:
        _costs(choice)


def _both_ways(choice: LayoutChoice) -> None:
    """A write finds the slot that a read finds: the same arrow, from either end."""
    size, block, offset = choice.shape.block_size, choice.at.block, choice.at.slot
    slot = block * size + offset
    st.markdown("**The same arrow, both ways**")
    st.code(
        f"write  slot_mapping[t] = {slot}\n"
        f"       {slot} // {size} = block {block}\n"
        f"       {slot} % {size} = offset {offset}\n"
        f"read   block_table[t // {size}] = {block}\n"
        f"       t % {size} = {offset}\n"
        f"       {block} × {size} + {offset} = slot {slot}",
        language=None,
    )
    st.caption(
        "For any token t whose logical block the table puts into this block. `slot_mapping` says "
        "it flat, for the write; the table says it by blocks, for the reads."
    )


def _costs(choice: LayoutChoice) -> None:
    st.markdown("**One load of a warp, in every layout**")
    table = costs(choice)
    st.dataframe(
        table,
        hide_index=True,
        column_config={"used": st.column_config.NumberColumn(format="percent")},
        alt=f"Sectors of one load in {len(Layout)} layouts, for K and for V",
    )
    name = f"layouts_{choice.shape.block_size}x{choice.shape.head_size}.csv"
    st.download_button("CSV", table.to_csv(index=False), name, "text/csv", on_click="ignore")


def costs(choice: LayoutChoice) -> pd.DataFrame:
    """The first load of K and of V in each layout; every full load costs the same."""
    return pd.DataFrame([_row(choice, cache, layout) for cache in CACHES for layout in Layout])


def _row(choice: LayoutChoice, cache: Cache, layout: Layout) -> dict[str, str | int | float]:
    load = cost(layout, cache, choice.shape, choice.at.block, choice.at.head, 0)
    return {
        "cache": cache,
        "layout": layout.value,
        "axes": axes_words(layout, cache, choice.shape),
        "bytes": load.num_bytes,
        "runs": len(load.runs),
        "sectors": load.sectors,
        "used": load.used_share,
        "reads a thread": load.thread_reads,
    }
