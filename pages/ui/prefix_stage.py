"""What Prefix sharing shows of a run: the player, and below it the step it stands at, as tables."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import streamlit as st

from pages.figures.prefix import prefix_blob
from pages.figures.prefix_tables import free_queue, hash_chains, shared_blocks
from pages.figures.prefix_text import PrefixText
from pages.figures.prefix_versions import OLD_AND_NEW, differ, free_orders
from pages.figures.prefix_views import answer, count_blocks, views
from pages.player import PlayerState, player
from pages.ui.page import complain
from pages.ui.prompt_examples import DOCUMENTED, PromptExample
from pages.ui.prompts import IDS
from pages.ui.runs import on_screen, run_of
from pages.ui.stalled import why_stalled
from pages.ui.step import asked_step, keep_step
from sim.documented import TIME_TO_STEP
from sim.event_log import EventLog
from sim.scenario import Scenario
from sim.verdict import lookups

STYLE = Path(__file__).parents[1] / "figures" / "prefix.css"


@st.fragment
def prefix_stage(example: PromptExample, scenario: Scenario) -> None:
    """Only this part runs again when the player stops."""
    log = run_of(scenario).log
    text = PrefixText(log, example.tokens)
    key = f"prefix.{example.keys}"
    left_at = st.session_state.get(f"{key}:left_at", example.step)
    request, block = _asked_block()
    state = player(
        prefix_blob(log, example.request, example.block, example.tokens),
        key=key,
        step=asked_step(log.num_steps - 1, opening=left_at),
        request=request,
        block=block,
    )
    st.session_state[f"{key}:left_at"] = state.step
    _keep_place(state)
    if log.stalled:
        complain(why_stalled(log))
    st.html(STYLE)
    _three_views(scenario, log, text)
    _both_orders(example, scenario, state.step)
    _tables(log, text, state.step)
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


def _three_views(scenario: Scenario, log: EventLog, text: PrefixText) -> None:
    counts = count_blocks(log, text)
    apart = run_of(replace(scenario, enable_prefix_caching=False)).log
    with st.container(border=True):
        st.markdown(f"**Is paging itself prefix sharing?** {answer(counts)}")
        st.html(views(counts, apart, log, text))


def _both_orders(example: PromptExample, scenario: Scenario, step: int) -> None:
    logs = {version: run_of(replace(scenario, version=version)).log for version in OLD_AND_NEW}
    with st.container(border=True):
        st.markdown(f"**The free order, then and now.** {differ(logs)}")
        st.html(free_orders(_named_steps(example, scenario, step), step, logs))


def _named_steps(example: PromptExample, scenario: Scenario, step: int) -> dict[str, int]:
    """The Times of vLLM's page, which has no Time 2, as long as its prompts are as they were."""
    unchanged = replace(scenario, version=example.version) == example.scenario
    if example == DOCUMENTED and unchanged:
        return {f"Time {time} <small>step {s}</small>": s for time, s in TIME_TO_STEP.items()}
    return {f"Step {step}": step}


def _tables(log: EventLog, text: PrefixText, step: int) -> None:
    frame = log.frame(step)
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
