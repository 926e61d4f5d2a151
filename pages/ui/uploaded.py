"""A scenario out of a file that a page gave away: a scenario (JSON), or a log (Parquet).

A file is read once, when it comes; what is wrong with it is said beside the uploader, and the page
goes on with what it had.
"""

import json
from typing import Any, NamedTuple

import streamlit as st

from pages.ui.limits import check_limits
from pages.ui.page import complain
from pages.ui.runs import run_of
from sim.checked import ScenarioError
from sim.event_log import EventLog
from sim.scenario import Scenario

FILE = "A file of yours"
ENDINGS = ["json", "parquet"]


def uploaded_scenario(key: str) -> Scenario | None:
    """The scenario of the last file that could be read, the same object in every run; None before.

    The uploader is drawn here, and below it what is wrong with the file it holds.
    """
    file = st.file_uploader(
        "Scenario or log",
        type=ENDINGS,
        key=key,
        help="A scenario (JSON) or a log (Parquet) that Allocation, Prefix sharing or Pressure "
        "gave away. A log is simulated once more, and must say the same.",
    )
    kept = f"{key}:read"
    read: _Read = st.session_state.get(kept, _Read(None, None, ""))
    if file is not None and file.file_id != read.id:
        read = st.session_state[kept] = _read(file.file_id, file.name, file.getvalue(), read)
    if file is not None and read.wrong:
        complain(read.wrong)
    return read.scenario


class _Read(NamedTuple):
    """The upload that was read last, the last good scenario, and what was wrong if not its own."""

    id: str | None
    scenario: Scenario | None
    wrong: str


def _read(id: str, name: str, data: bytes, before: _Read) -> _Read:
    try:
        return _Read(id, scenario_of(name, data), "")
    except ScenarioError as error:
        return _Read(id, before.scenario, f"{name}: {error}")


def scenario_of(name: str, data: bytes) -> Scenario:
    """The scenario of a file, small enough for a page; a log's only when the log follows from it.

    Raises ScenarioError, in one sentence.
    """
    if name.endswith(".parquet"):
        from sim.log_file import from_parquet

        return from_parquet(data, _simulated).scenario
    return _checked(Scenario.from_json(_json(data)))


def _simulated(scenario: Scenario) -> EventLog:
    return run_of(_checked(scenario)).log


def _checked(scenario: Scenario) -> Scenario:
    if not scenario.requests:
        raise ScenarioError("requests", "there are 0 requests; 1 would do.")
    check_limits(scenario)
    return scenario


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno:,}, character {error.colno:,}"
        raise ScenarioError("scenario", f"this is not JSON, from {where} on.") from None
    except (ValueError, RecursionError):
        raise ScenarioError("scenario", "this is not JSON.") from None
