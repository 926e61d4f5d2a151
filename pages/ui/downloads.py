"""The run on screen as files to take away, the same on every page; each is made when it is asked
for. A scenario and a log are opened again by pages/ui/uploaded.py.
"""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import streamlit as st

from sim.event_log import EventLog
from sim.scenario import Scenario

if TYPE_CHECKING:
    import plotly.graph_objects as go


class File(NamedTuple):
    """A file beside the scenario and the log: its button, how its name ends, what makes it."""

    label: str
    ending: str
    make: Callable[[], str | bytes]


def table_file(title: str, table: Callable[[], pd.DataFrame], at: str = "") -> File:
    """A table; `at` says of which moment, when it is not of the whole run."""
    return File(f"{title} (CSV)", f", {title}{at}.csv", lambda: table().to_csv(index=False))


def figure_file(title: str, figure: "Callable[[], go.Figure]", at: str = "") -> File:
    """A Plotly figure that opens in any browser, without a network."""
    html = f", {title}{at}.html"
    return File(f"{title} (HTML)", html, lambda: figure().to_html(include_plotlyjs=True))


def run_files(log: EventLog, *more: File) -> None:
    """The scenario, the log, and more files of the same run."""
    with st.container(horizontal=True):
        scenario_button(log.scenario, "scenario")
        _buttons(log.scenario.name, File("Log (Parquet)", ".parquet", lambda: _log(log)), *more)


def part_files(name: str, *files: File) -> None:
    """Files of a part of a page."""
    with st.container(horizontal=True):
        _buttons(name, *files)


def _buttons(name: str, *files: File) -> None:
    for label, ending, make in files:
        st.download_button(label, make, f"{name}{ending}", on_click="ignore")


def scenario_button(scenario: Scenario, key: str) -> None:
    """The scenario alone."""
    st.download_button(
        "Scenario (JSON)",
        lambda: json.dumps(scenario.to_json(), indent=1),
        f"{scenario.name}.json",
        key=f"{key}.json",
        on_click="ignore",
    )


def _log(log: EventLog) -> bytes:
    from sim.log_file import to_parquet

    return to_parquet(log)
