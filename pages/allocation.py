"""Allocation: where does token t live, and why there?"""

import streamlit as st

from pages.ui import complain, leaves_out, page
from pages.ui.address import follow_address
from pages.ui.allocation_sizes import block_sizes
from pages.ui.allocation_stage import allocation_stage
from pages.ui.cancellable import done
from pages.ui.controls import scenario_controls
from pages.ui.draft import Draft
from pages.ui.runs import run_of
from pages.ui.trace_controls import wanted
from sim.checked import ScenarioError

page(
    "Allocation",
    "Where does token *t* live, and why there?",
    badges=["vLLM 0.26.0 rules", "computed here"],
)

draft = st.session_state.setdefault("allocation", Draft())
try:
    follow_address(draft)
except ScenarioError as error:
    complain(error)
scenario_controls(draft)
if draft.awaits_file:
    st.markdown(wanted(draft.choice))
    st.stop()

asked = (draft.good, draft.shown)
shown = done("Allocation", asked, lambda show: run_of(draft.good, show).pool_blob)
if shown is None:
    st.stop()
draft.accept(*shown)
allocation_stage(draft)
block_sizes(draft.good)

leaves_out(
    "One full-attention KV cache group on one GPU: block tables, free queue, ref counts and prefix "
    "hashes as vLLM 0.26.0 decides them, checked step by step against recordings of its scheduler. "
    "Beside it, what reserving max_model_len for each request would hold. Left out: speculative "
    "decoding, sliding windows, KV transfer between machines, and time: a step has no length."
)
