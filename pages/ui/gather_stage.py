"""The player of Gather loop, and below it what it stopped at, in numbers."""

import pandas as pd
import streamlit as st

from pages.figures.fold import arithmetic, place, rows
from pages.figures.gather import gather_blob, holders, micro_steps, opening_step
from pages.player import player
from pages.ui.gather_controls import Choice
from pages.ui.step import asked_step, keep_step
from sim.attention import Walk

SHOWN = ("token", "block", "slot", "s", "m", "corr", "p", "l", "error")


@st.fragment
def gather_stage(choice: Choice, walk: Walk) -> None:
    """Only this part runs again when the player stops."""
    inputs, head = choice.inputs, choice.head
    blob = gather_blob(inputs, walk, head, holders(inputs, choice.null_block))
    tokens = micro_steps(walk)[1]
    opening = opening_step(walk, inputs.block_size)
    state = player(blob, key="gather", step=asked_step(len(tokens) - 1, opening))
    keep_step(state.step)
    _numbers(choice, walk, max(tokens[state.step], 0))


def _numbers(choice: Choice, walk: Walk, token: int) -> None:
    """Token `token` worked out, and the table of all tokens."""
    where, fold, table = st.columns((1, 1.7, 1.7), gap="medium")
    where.markdown(f"**Where token {token} lies**")
    where.code("\n".join(place(choice.inputs, walk, token)), language=None)
    fold.markdown("**What folding it in does**")
    lines = arithmetic(choice.inputs, walk, choice.head, token)
    fold.code("\n".join(lines), language=None)
    frame = pd.DataFrame(rows(walk))
    table.markdown("**All tokens, as recorded**")
    error = {"error": st.column_config.NumberColumn(format="%.2e")}
    table.dataframe(
        frame, hide_index=True, height=178, column_order=SHOWN, column_config=error, alt="Walk"
    )
    name = f"gather_head_{choice.head}.csv"
    csv = frame.to_csv(index=False)
    table.download_button("CSV, with acc", csv, name, "text/csv", on_click="ignore")
