"""Pressure: what happens when the pool is full?"""

from pathlib import Path

import streamlit as st

from pages.ui import leaves_out, page
from pages.ui.cancellable import done
from pages.ui.pressure_controls import pressure_controls
from pages.ui.pressure_stage import pressure_stage
from pages.ui.pressure_trace import asks_for

STYLE = Path(__file__).with_name("figures") / "pressure.css"

page(
    "Pressure",
    "What happens when the pool is full?",
    badges=["vLLM 0.26.0 rules", "computed here"],
)

st.html(STYLE)
asked = pressure_controls()
if asked is None:
    st.markdown(asks_for())
    st.stop()

shown = done("Pressure", asked, asked.prepare)
if shown is not None:
    pressure_stage(shown)

leaves_out(
    "There is no swapping in vLLM V1: a victim gives its blocks back at once, keeps its outputs, "
    "and computes its tokens again unless the cache still has them. First come, first served: the "
    "victim is the last in the running list. Priority: the least urgent one. One full-attention KV "
    "cache group on one GPU, decided as vLLM 0.26.0 does, checked step by step against recordings "
    "of its scheduler. The load is drawn from a seed: Poisson arrivals, log-normal lengths. Left "
    "out: time, as a step has no length, and speculative decoding."
)
