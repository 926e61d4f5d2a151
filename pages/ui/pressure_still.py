"""The pool of a step as a still picture, for a log that is too large to be played."""

import streamlit as st

from pages.figures.pool_picture import pool_picture
from pages.ui.limits import MAX_PLAYED
from pages.ui.moment import Moment
from pages.ui.step import keep_step


def still_pool(now: Moment) -> None:
    """The picture, why it does not move, and the step to type."""
    run, key = now.run, "pressure.step"
    frame = run.log.frame(now.step)
    st.session_state[key] = now.step
    st.number_input(
        "Step",
        0,
        run.log.num_steps - 1,
        key=key,
        width=200,
        on_change=lambda: keep_step(int(st.session_state[key])),
    )
    st.image(
        pool_picture(frame, now.chip.hues, now.theme),
        caption=f"The pool after step {now.step:,}, a row after the other. The log of this run has "
        f"{len(run.pool_blob) / 1e6:,.0f} MB, packed; up to {MAX_PLAYED / 1e6:,.0f} MB are played "
        "in a browser. A click on the figure above moves this picture too.",
    )
