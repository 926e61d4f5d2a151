"""The numbers of a step of the Pressure page, and the run as files to take away."""

from dataclasses import asdict, fields

import pandas as pd
import streamlit as st

from pages.ui.pressure_run import PressureRun


def hit_rates(run: PressureRun, step: int) -> None:
    """Tokens looked up and found at admissions, of new requests and of those that came back."""
    st.markdown("**Prefix cache hits, of new requests and of preempted ones that came back**")
    st.dataframe(
        hits_of(run, step),
        hide_index=True,
        column_config={
            name: st.column_config.NumberColumn(format="percent")
            for name in ("hit rate so far", "hit rate, whole run")
        },
    )
    again = run.columns.recomputed
    st.caption(
        f"Tokens computed a second time: {int(again[: step + 1].sum()):,} up to this step, "
        f"{int(again.sum()):,} in the whole run. Looked up are all tokens of a request when it is "
        "let in; its last one is never taken from the cache."
    )


def hits_of(run: PressureRun, step: int) -> pd.DataFrame:
    """One row for new requests, one for resumed ones."""
    c = run.columns
    rows = []
    for name, asked, hit in (
        ("new", c.asked_new, c.hit_new),
        ("resumed", c.asked_resumed, c.hit_resumed),
    ):
        so_far, found = int(asked[: step + 1].sum()), int(hit[: step + 1].sum())
        rows.append(
            {
                "requests": name,
                "tokens looked up": so_far,
                "found": found,
                "hit rate so far": found / so_far if so_far else None,
                "hit rate, whole run": int(hit.sum()) / int(asked.sum()) if asked.sum() else None,
            }
        )
    return pd.DataFrame(rows)


def steps_of(run: PressureRun) -> pd.DataFrame:
    """All columns, a row a step."""
    names = [field.name for field in fields(run.columns)]
    return (
        pd.DataFrame({name: getattr(run.columns, name) for name in names})
        .rename_axis("step")
        .reset_index()
    )


def preemptions_of(run: PressureRun) -> pd.DataFrame:
    """All preemptions, a row each."""
    return pd.DataFrame([asdict(found) for found in run.preemptions])
