"""What Prefix sharing shows of a run: the player, and below it the step it stands at, as tables."""

import pandas as pd
import streamlit as st

from pages.figures.prefix import prefix_blob
from pages.figures.prefix_tables import free_queue, hash_chains, shared_blocks
from pages.figures.prefix_text import PrefixText
from pages.player import PlayerState, player
from pages.ui.page import complain
from pages.ui.prompt_examples import PromptExample
from pages.ui.prompts import IDS
from pages.ui.runs import on_screen, run_of
from pages.ui.stalled import why_stalled
from pages.ui.step import asked_step, keep_step
from sim.event_log import EventLog
from sim.scenario import Scenario
from sim.verdict import lookups


@st.fragment
def prefix_stage(example: PromptExample, scenario: Scenario) -> None:
    """Only this part runs again when the player stops."""
    log = run_of(scenario).log
    key = f"prefix.{example.slug}"
    left_at = st.session_state.get(f"{key}:left_at", example.step)
    request, block = _asked_block()
    state = player(
        prefix_blob(log, example.request, example.block),
        key=key,
        step=asked_step(log.num_steps - 1, opening=left_at),
        request=request,
        block=block,
    )
    st.session_state[f"{key}:left_at"] = state.step
    _keep_place(state)
    if log.stalled:
        complain(why_stalled(log))
    _tables(log, state.step)
    on_screen(scenario, state.step, "Prefix sharing")


def _asked_block() -> tuple[str | None, int | None]:
    """The logical block that the link asks about, a request's id and its place in the request."""
    request, block = (st.query_params.get(name, "") for name in ("request", "block"))
    if request in IDS and request and block.isascii() and block.isdigit() and len(block) < 3:
        return request, int(block)
    return None, None


def _keep_place(state: PlayerState) -> None:
    """Make the address a link to this step, and to the block asked about if one was picked."""
    keep_step(state.step)
    for name, value in (("request", state.request), ("block", state.block)):
        if value is None:
            st.query_params.pop(name, None)
        else:
            st.query_params[name] = str(value)


def _tables(log: EventLog, step: int) -> None:
    text, frame = PrefixText(log), log.frame(step)
    tables = {
        "Who shares what": shared_blocks(frame, text),
        "Hash chain": hash_chains(step, lookups(log), text),
        "Free queue": free_queue(frame, text),
    }
    for tab, (title, table) in zip(st.tabs(list(tables)), tables.items(), strict=True):
        with tab:
            _table(title, step, table)


def _table(title: str, step: int, table: pd.DataFrame) -> None:
    st.dataframe(table, hide_index=True, alt=f"{title} at step {step}: {len(table)} rows")
    st.download_button(
        "CSV",
        table.to_csv(index=False),
        f"{title}, step {step}.csv",
        "text/csv",
        key=f"csv.{title}",
        on_click="ignore",
    )
