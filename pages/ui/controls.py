"""The sidebar of a page with a Draft: which scenario, the engine's settings, the requests."""

from dataclasses import replace
from typing import Any

import streamlit as st

from pages.ui.downloads import scenario_button
from pages.ui.draft import Draft
from pages.ui.examples import EXAMPLES
from pages.ui.limits import LIMITS
from pages.ui.number import whole_number
from pages.ui.page import complain, plain
from pages.ui.request_table import COLUMNS, can_be_typed, from_table, to_table
from pages.ui.trace_controls import traced_requests
from pages.ui.uploaded import FILE, uploaded_scenario
from sim.checked import ScenarioError
from sim.scenario import RequestSpec

TRACE = "A trace of yours"
Requests = tuple[RequestSpec, ...]
SHOWN = 8  # requests in the overview
BY_TITLE = {example.title: example for example in EXAMPLES}


def scenario_controls(draft: Draft) -> None:
    """Let the visitor choose and change the scenario; a wrong input is answered beside it."""
    with st.sidebar:
        _choose(draft)
        if draft.filing:
            _open_file(draft)
        too_large = st.container()
        settings = _settings(draft)
        try:
            if draft.tracing:
                requests, shown = traced_requests(draft)
            else:
                requests, shown = _typed_requests(draft), None
            if requests:
                draft.accept(replace(draft.base, requests=requests, **settings), shown)
        except ScenarioError as error:
            complain(error)
        with too_large:
            _say_how_to_keep(draft)
    if draft.awaits_scenario and draft.wanted:
        st.markdown(plain(draft.wanted.wanted))
        st.stop()


def _choose(draft: Draft) -> None:
    titles = [*BY_TITLE, TRACE, FILE]
    name = FILE if draft.filing else TRACE if draft.tracing else draft.base.name
    if name not in titles:
        titles.insert(0, name)
    key = draft.key("example")

    def open_chosen() -> None:
        title = st.session_state[key]
        if title == TRACE:
            draft.open_trace()
        elif title == FILE:
            draft.ask_file()
        elif title in BY_TITLE:
            draft.open_example(BY_TITLE[title])

    st.selectbox("Scenario", titles, titles.index(name), key=key, on_change=open_chosen)
    if name in BY_TITLE:
        st.caption(BY_TITLE[name].shows)


def _open_file(draft: Draft) -> None:
    if draft.wanted and draft.awaits_scenario:
        st.markdown(plain(draft.wanted.wanted))
    scenario = uploaded_scenario("allocation.file")
    if scenario is not None and scenario is not draft.opened:
        draft.open_file(scenario)
    if draft.wanted and draft.opened:
        complain(f"This is not the file of the link, whose SHA-256 is {draft.wanted.digest}….")


def _say_how_to_keep(draft: Draft) -> None:
    """A scenario that no link holds is kept as a file."""
    if "file" not in draft.link or draft.shown:
        return
    st.caption("Too large for a link: the address only names this file, so send it along.")
    scenario_button(draft.good, "too_large")


def _settings(draft: Draft) -> dict[str, Any]:
    """The engine's settings, by the scenario's names for them."""
    settings = {
        "block_size": st.slider(
            "Block size",
            *LIMITS["block_size"][:2],
            draft.base.block_size,
            key=draft.key("block_size"),
            help=HELP["block_size"],
        ),
        "num_gpu_blocks": _setting(draft, "Physical blocks", "num_gpu_blocks"),
        "enable_prefix_caching": st.toggle(
            "Prefix caching", draft.base.enable_prefix_caching, key=draft.key("caching")
        ),
    }
    with st.expander("Scheduler"):
        for label, name in (
            ("Requests at once", "max_num_seqs"),
            ("Tokens a step", "max_num_batched_tokens"),
            ("Longest request, tokens", "max_model_len"),
        ):
            settings[name] = _setting(draft, label, name)
    return settings


def _setting(draft: Draft, label: str, name: str) -> int:
    return whole_number(
        label,
        int(getattr(draft.base, name)),
        LIMITS[name],
        instead=int(getattr(draft.good, name)),
        key=draft.key(name),
        help=HELP[name],
    )


HELP = {
    "block_size": "Tokens a KV block holds. vLLM's default is 16.",
    "num_gpu_blocks": "num_gpu_blocks, the null block 0 included.",
    "max_num_seqs": "max_num_seqs: no more requests run in one step.",
    "max_num_batched_tokens": "max_num_batched_tokens: a longer prompt is spread over steps.",
    "max_model_len": "max_model_len: what the contiguous baseline reserves for each request.",
}


def _typed_requests(draft: Draft) -> Requests:
    known = draft.base.requests
    overview = st.empty()
    requests = _edited(draft, known) if can_be_typed(known) else known
    rows = to_table(requests[:SHOWN])
    overview.table(rows.drop(columns="shared"), border="horizontal", hide_index=True)
    if len(requests) > SHOWN:
        st.caption(f"and {len(requests) - SHOWN:,} more")
    return requests


def _edited(draft: Draft, known: Requests) -> Requests:
    """The requests as the visitor's table has them."""
    with st.popover("Edit the requests", width="stretch"):
        st.caption(
            "Prompt, shared and output in tokens; arrival in steps. *Shared*: so many tokens at "
            "the start of the prompt are a text that all such requests have in common."
        )
        table = st.data_editor(
            to_table(known),
            key=draft.key("requests"),
            num_rows="dynamic",
            hide_index=True,
            column_config=COLUMNS,
            width=460,
        )
    return from_table(table, known)
