"""A visitor's trace on the Pressure page, read and named in links as on Allocation."""

from dataclasses import asdict

import streamlit as st

from pages.ui.draft import Draft
from pages.ui.link import decode, encode
from pages.ui.trace import ENGINE, TraceChoice
from pages.ui.trace_controls import traced_requests, wanted
from pages.ui.uploaded import FILE
from sim.scenario import RequestSpec

TRACE = "A trace of yours"


def trace_draft() -> Draft:
    """What was uploaded in this session, and how it is read; at first as the link says.

    Raises ScenarioError when the link's trace cannot be read.
    """
    draft: Draft | None = st.session_state.get("pressure.trace")
    if draft is None:
        draft = st.session_state["pressure.trace"] = Draft()
        draft.open_trace(ENGINE)
        if asked := st.query_params.get("trace"):
            draft.open_trace(ENGINE, TraceChoice.from_json(decode(asked)))
    return draft


def trace_requests(draft: Draft) -> tuple[RequestSpec, ...]:
    """The requests of the file, none before there is one; the address says which file it is.

    Raises ScenarioError when it cannot be read.
    """
    requests, choice = traced_requests(draft)
    if choice is not None:
        draft.shown = choice
        st.query_params["trace"] = encode(asdict(choice))
    return requests


def asks_for() -> str:
    """Which file would do, in a sentence."""
    if st.session_state.get("pressure") == FILE:
        return "Upload a scenario or a log in the sidebar: a file that a page here gave away."
    draft = trace_draft()
    if draft.choice.file:
        return wanted(draft.choice)
    return (
        "Upload a trace in the sidebar: one JSON object a line, in Mooncake’s format or as a "
        "recorded vLLM run says whom it served."
    )
