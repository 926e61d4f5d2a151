"""The block tables of a step as a table to read, and the run as files to take away."""

import pandas as pd
import streamlit as st

from pages.ui.downloads import run_files, table_file
from sim.event_log import EventLog
from sim.frame import Frame


def block_tables(frame: Frame) -> None:
    """One row a running request, in order of admission."""
    st.markdown(f"**Block tables at step {frame.step:,}**")
    st.dataframe(
        table_of(frame),
        hide_index=True,
        column_config={"block table": st.column_config.TextColumn(width="large")},
        alt=f"Block tables of {len(frame.running)} requests",
    )


def table_of(frame: Frame) -> pd.DataFrame:
    """Request, tokens in the cache, tokens of this step, and physical blocks in logical order."""
    now = {name: tokens for name, tokens, _ in frame.scheduled}
    rows = [
        (
            name,
            frame.requests[name].num_computed_tokens,
            now.get(name, 0),
            " ".join(map(str, frame.requests[name].block_table)),
        )
        for name in frame.running
    ]
    return pd.DataFrame(rows, columns=["request", "tokens", "of this step", "block table"])


def downloads(log: EventLog, frame: Frame) -> None:
    """The scenario, the log and the block tables as files."""
    tables = table_file("Block tables", lambda: table_of(frame), at=f", step {frame.step}")
    run_files(log, tables)
