"""Overview: what PagedAttention is, in one minute, on the lesson's own example."""

from pathlib import Path

import streamlit as st

from pages.figures.overview import overview_blob, overview_steps
from pages.player import player
from pages.ui import leaves_out, page
from pages.ui.step import asked_step, keep_step
from sim.attention import attend, written_pool
from sim.attention_input import LESSON

page(
    "Overview",
    "What is PagedAttention, in one minute?",
    badges=("the lesson’s example", "computed here, float64"),
)

LINKS = (
    (
        "allocation",
        "Where does token *t* live?",
        {"scenario": "lesson", "step": "3"},
    ),
    ("prefix_sharing", "Which blocks are reused?", {}),
    ("pressure", "What happens when the pool is full?", {}),
    ("gather_loop", "What does one query do?", {"step": "31"}),
    ("memory_layout", "Why does the K cache have an *x*?", {}),
    ("run_kernel", "Does the real kernel agree?", {}),
)


@st.fragment
def stage() -> None:
    """The player; it opens at the end, where everything is written, read and compared."""
    _, written = written_pool(LESSON, LESSON.keys[0])
    (walk,) = attend(LESSON)
    last = len(overview_steps(written, walk)) - 1
    blob = overview_blob(LESSON, written, walk)
    keep_step(player(blob, key="overview", step=asked_step(last, opening=last)).step)


stage()

slots = len(LESSON.block_table) * LESSON.block_size
changes, stays, onward = st.columns(3, gap="medium")
changes.markdown(
    f"""**What paging changes**

Where keys and values lie. A request takes a block when it needs one, from anywhere in a shared
pool, instead of reserving room for the longest answer it might give. Only its last block can have
empty slots: here {slots - LESSON.seq_len} of {slots}.
"""
)
stays.markdown(
    """**What it never changes**

What attention computes. A token is written through the block table to its slot, and read back
through the same table, so the query meets all tokens in order. What differs from dense attention is
rounding; the number above is computed as you look.
"""
)
onward.markdown("**Go on**")
for name, question, query in LINKS:
    onward.page_link(Path(__file__).with_name(f"{name}.py"), label=question, query_params=query)

leaves_out(
    """One attention step of one head: the lesson’s q, K, V and block table, in Python floats. The
lesson’s toy pool hands out block 0, which vLLM keeps as its null block. vLLM 0.26.0 does this walk
in a fused GPU kernel and in 16 bits; how it chooses the blocks is on the Allocation page."""
)
