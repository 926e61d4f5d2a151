"""What Prefix sharing shows of a run: the player, then a block’s life, then the step in tables."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

from pages.figures.prefix_eviction import words_lost
from pages.figures.prefix_versions import free_orders
from pages.player import PlayerState, player
from pages.ui.block_life import show_life
from pages.ui.downloads import run_files
from pages.ui.page import complain
from pages.ui.prefix_run import PrefixRun, physical, prefix_run
from pages.ui.prompt_examples import DOCUMENTED, PromptExample
from pages.ui.prompts import IDS
from pages.ui.runs import on_screen, run_of
from pages.ui.stalled import why_stalled
from pages.ui.step import asked_step, keep_step
from pages.ui.step_links import StepLink, step_links
from sim.documented import TIME_TO_STEP
from sim.scenario import Scenario

STYLE = Path(__file__).parents[1] / "figures" / "prefix.css"


@st.fragment
def prefix_stage(example: PromptExample, scenario: Scenario) -> None:
    """Only this part runs again when the player stops."""
    run = prefix_run(scenario, run_of(scenario).log, example.tokens)
    log, key = run.log, f"prefix.{example.keys}"
    left_at = st.session_state.get(f"{key}:left_at", example.step)
    request, block = _asked_block()
    state = player(
        run.blob(example.request, example.block),
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
    _life(example, run, state, key)
    _three_views(run)
    _both_orders(example, run, state.step, key)
    _tables(run, state.step)
    run_files(log)
    on_screen(scenario, state.step, "Prefix sharing")


def _asked_block() -> tuple[str | None, int | None]:
    """What the link asks about: a request's id and a logical block of it, or a physical block."""
    request, block = (st.query_params.get(name, "") for name in ("request", "block"))
    if request in ("", *IDS) and block.isascii() and block.isdigit() and len(block) < 3:
        return request or None, int(block)
    return None, None


def _keep_place(state: PlayerState) -> None:
    """Make the address a link to this step, and to the block asked about if one was picked."""
    keep_step(state.step)
    for name, value in (("request", state.request), ("block", state.block)):
        if value is None:
            st.query_params.pop(name, None)
        else:
            st.query_params[name] = str(value)


def _life(example: PromptExample, run: PrefixRun, state: PlayerState, key: str) -> None:
    """The life of the block that is asked about; of the example's as long as none is."""
    request, block = state.request, state.block
    if block is None:
        request, block = example.request, example.block
    ids = [spec.id for spec in run.log.scenario.requests]
    if request is not None:
        block = physical(run.log, state.step, request, block) if request in ids else None
    if block is None or block >= run.log.scenario.num_gpu_blocks:
        with st.container(border=True):
            st.markdown("**The life of a block.** Click a block above: it has one from here on.")
        return
    held = partial(words_lost, run.text)
    show_life(run.log, state.step, block, player=key, key=f"{key}.life", held=held)


def _three_views(run: PrefixRun) -> None:
    words, figure = run.views
    with st.container(border=True):
        st.markdown(f"**Is paging itself prefix sharing?** {words}")
        st.html(figure)


def _both_orders(example: PromptExample, run: PrefixRun, step: int, key: str) -> None:
    """Both lists at the step on screen; in vLLM's example at each of its Times, to go to."""
    with st.container(border=True):
        st.markdown(f"**The free order, then and now.** {run.difference}")
        times = _times(example, run.log.scenario)
        links = [StepLink(at, f"Time {time}") for time, at in times.items()]
        if links:
            step_links(links, step, player=key, key=f"{key}.times")
        named = {f"Time {time} <small>step {s}</small>": s for time, s in times.items()}
        st.html(free_orders(named or {f"Step {step}": step}, step, run.held))


def _times(example: PromptExample, scenario: Scenario) -> dict[int, int]:
    """The Times of vLLM's page, which has no Time 2, as long as its prompts are as they were."""
    unchanged = replace(scenario, version=example.version) == example.scenario
    return TIME_TO_STEP if example == DOCUMENTED and unchanged else {}


def _tables(run: PrefixRun, step: int) -> None:
    tables = run.tables(step)
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
