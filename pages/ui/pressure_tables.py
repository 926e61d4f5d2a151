"""The numbers of a step of the Pressure page, and the run as files to take away."""

import json
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from pages.ui.pressure_run import PressureRun

if TYPE_CHECKING:
    import plotly.graph_objects as go


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


def downloads(run: PressureRun, step: int, figure: "Callable[[], go.Figure]") -> None:
    """Each file is made when it is asked for."""
    name = run.log.scenario.name
    files: tuple[tuple[str, str, Callable[[], str | bytes]], ...] = (
        ("Steps (CSV)", ", steps.csv", lambda: steps_of(run).to_csv(index=False)),
        (
            "Preemptions (CSV)",
            ", preemptions.csv",
            lambda: pd.DataFrame(map(asdict, run.preemptions)).to_csv(index=False),
        ),
        ("Scenario (JSON)", ".json", lambda: json.dumps(run.log.scenario.to_json(), indent=1)),
        ("Log (columns)", ".log", run.log.to_bytes),
        (
            "Figure (HTML)",
            f", step {step}.html",
            lambda: figure().to_html(include_plotlyjs=True),
        ),
    )
    with st.container(horizontal=True):
        for label, ending, data in files:
            st.download_button(label, data, f"{name}{ending}", on_click="ignore")


def steps_of(run: PressureRun) -> pd.DataFrame:
    """All columns, a row a step."""
    names = [field.name for field in fields(run.columns)]
    return (
        pd.DataFrame({name: getattr(run.columns, name) for name in names})
        .rename_axis("step")
        .reset_index()
    )
