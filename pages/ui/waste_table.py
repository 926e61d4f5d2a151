"""Slots held but empty: paged, and with one piece of memory for each request."""

import pandas as pd
import streamlit as st

from pages.ui.runs import SimulatedRun
from sim.frame import Frame
from sim.waste import Waste, contiguous_waste, paged_waste

NOTE = (
    "All computed here, from the same requests, memory and token budget, each run at its own pace. "
    "Orca as the vLLM paper has it (arXiv 2309.06180, section 6.1): a request holds one piece from "
    "its entry to its end, for max_model_len tokens (Max), for its prompt and its output's length "
    "rounded up to a power of two (Pow2), or for just what it will store (Oracle); the allocator "
    "rounds a piece up to a power of two."
)


def waste_table(run: SimulatedRun, frame: Frame) -> None:
    """All ways at the engine step of the frame, in slots."""
    scenario = run.log.scenario
    st.markdown(f"**Slots at step {frame.step:,}, paged and in one piece for each request**")
    rows = {f"paged, blocks of {scenario.block_size}": paged_waste(scenario, frame)}
    for how, baseline in run.baselines.items():
        rows[how.label] = contiguous_waste(baseline, frame.engine_step)
    st.dataframe(
        pd.DataFrame([_row(name, waste) for name, waste in rows.items()]),
        hide_index=True,
        column_config={"held but empty": st.column_config.NumberColumn(format="%.1f %%")},
    )
    st.caption(" ".join([NOTE, *_never_run(run)]))


def _never_run(run: SimulatedRun) -> list[str]:
    """A sentence for each way in which the memory is too small for somebody."""
    return [
        f"{how.label}: {baseline.stuck} needs a larger piece than there is among the "
        f"{baseline.capacity:,} slots, so neither it nor anyone behind it ever runs."
        for how, baseline in run.baselines.items()
        if baseline.stuck
    ]


def _row(name: str, waste: Waste) -> dict[str, str | int | float]:
    return {
        "memory": name,
        "running": waste.running,
        "slots held": waste.held,
        "with a token": waste.used,
        "will get one": waste.reserved,
        "never will": waste.internal,
        "lost to rounding and gaps": waste.external,
        "held but empty": 100 * waste.empty_share,
    }
