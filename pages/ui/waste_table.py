"""Slots held but empty: paged, and with one reservation for each request."""

import pandas as pd
import streamlit as st

from pages.ui.runs import SimulatedRun
from sim.frame import Frame
from sim.waste import Waste, contiguous_waste, paged_waste


def waste_table(run: SimulatedRun, frame: Frame) -> None:
    """Both ways at the engine step of the frame, in slots."""
    scenario, baseline = run.log.scenario, run.baseline
    st.markdown(f"**Slots at step {frame.step:,}, and if each request reserved max_model_len**")
    rows = {
        f"paged, blocks of {scenario.block_size}": paged_waste(scenario, frame),
        f"one piece of {baseline.reservation:,} each": contiguous_waste(
            baseline, frame.engine_step
        ),
    }
    table = pd.DataFrame([_row(name, waste) for name, waste in rows.items()])
    st.dataframe(
        table,
        hide_index=True,
        column_config={"held but empty": st.column_config.NumberColumn(format="percent")},
    )
    note = (
        "Both computed here, from the same requests, memory and token budget; the second is Orca "
        "(Max) of the vLLM paper (arXiv 2309.06180), each run at its own pace."
    )
    if not baseline.most_at_once:
        note += (
            f" One reservation is larger than the {baseline.capacity:,} slots there are, so nobody "
            "would run at all."
        )
    st.caption(note)


def _row(name: str, waste: Waste) -> dict[str, str | int | float]:
    return {
        "memory": name,
        "running": waste.running,
        "slots held": waste.held,
        "with a token": waste.used,
        "will get one": waste.reserved,
        "never will": waste.internal,
        "free, too small to use": waste.external,
        "held but empty": waste.empty_share,
    }
