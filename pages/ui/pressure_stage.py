"""What the Pressure page shows of a run: lanes and bands, the pool, and the step in words."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.figures.palette import DARK, LIGHT, Theme
from pages.figures.pressure_words import told
from pages.player import player
from pages.ui.page import complain
from pages.ui.pressure_run import PressureRun, pressure_run
from pages.ui.pressure_tables import downloads, hit_rates
from pages.ui.runs import on_screen, run_of
from pages.ui.stalled import why_stalled
from pages.ui.step import asked_step, keep_step
from sim.columns import Column
from sim.scenario import Scenario

if TYPE_CHECKING:
    import plotly.graph_objects as go

JUMPS = "pressure:jumps"  # how often the player was mounted anew, to stand elsewhere
MAX_PLAYED = 24_000_000  # bytes of log that a browser is sent


@st.fragment
def pressure_stage(slug: str, opening: int, scenario: Scenario) -> None:
    """Only this part runs again when the player stops."""
    run = pressure_run(run_of(scenario).log)
    last, left_at = run.log.num_steps - 1, f"pressure.{slug}:left_at"
    step = asked_step(last, opening=min(st.session_state.get(left_at, opening), last))
    head, figure = st.container(), st.container()
    _next_events(run, step)
    step = _played(run, slug, step)
    st.session_state[left_at] = step
    keep_step(step)
    with head:
        _words(run, step)
    with figure:
        _figure(run, step)
    hit_rates(run, step)
    downloads(run, step, _drawn(run, step))
    on_screen(scenario, step, "Pressure")


def _played(run: PressureRun, slug: str, step: int) -> int:
    """The pool mosaic at a step that the player or a button chose; a huge log has a number only."""
    if run.num_bytes > MAX_PLAYED:
        st.caption(
            f"The log has {run.num_bytes / 1e6:,.0f} MB, more than is sent to a browser: "
            "no blocks are drawn, all numbers are there."
        )
        return int(
            st.number_input(
                "Step", 0, run.log.num_steps - 1, step, key=f"pressure.{slug}.step.{step}"
            )
        )
    key = f"pressure.{slug}.player.{st.session_state.get(JUMPS, 0)}"
    request = st.query_params.get("request")
    state = player(run.pool_blob, key=key, step=step, request=request)
    if state.request:
        st.query_params["request"] = state.request
    return state.step


def _next_events(run: PressureRun, step: int) -> None:
    """Buttons that go to the next step in which something happens."""
    columns = run.columns
    with st.container(horizontal=True, vertical_alignment="center"):
        for name, happened in (
            ("preemption", columns.preemptions),
            ("eviction", columns.evictions),
            ("finish", columns.finishes),
        ):
            target = _next(happened, step)
            st.button(
                f"Next {name}",
                disabled=target is None,
                on_click=_go_to,
                args=(target,),
                help=None if target is None else f"step {target:,}",
            )


def _next(happened: Column, step: int) -> int | None:
    later = np.flatnonzero(happened[step + 1 :])
    return step + 1 + int(later[0]) if len(later) else None


def _go_to(step: int) -> None:
    keep_step(step)
    st.session_state[JUMPS] = st.session_state.get(JUMPS, 0) + 1


def _words(run: PressureRun, step: int) -> None:
    """The one sentence that leads: who is preempted in this step, or when somebody is."""
    if run.log.stalled:
        complain(why_stalled(run.log))
    found = [p for p in run.preemptions if p.step == step]
    for preemption in found:
        st.markdown(f"**Step {step:,}.** {told(preemption, run.log.scenario)}")
    if not found:
        st.markdown(f"**Step {step:,}.** {_calm(run, step)}")


def _calm(run: PressureRun, step: int) -> str:
    target = _next(run.columns.preemptions, step)
    if target is not None:
        return f"Nobody loses its place in this step; the next preemption is in step {target:,}."
    if not run.preemptions:
        return "Nobody loses its place in this run: fewer blocks or longer outputs would do it."
    last = run.preemptions[-1].step
    return f"Nobody loses its place any more; the last preemption was in step {last:,}."


def _figure(run: PressureRun, step: int) -> None:
    from pages.figures.pressure import drawn_as
    from pages.figures.pressure_lanes import MAX_LANES
    from pages.figures.pressure_legend import lane_legend, pool_legend

    columns = run.columns
    st.plotly_chart(
        _drawn(run, step)(),
        theme=None,
        key="pressure.figure",
        alt=f"Lanes of {len(run.log.scenario.requests):,} requests over {columns.num_steps:,} "
        f"steps, above the pool: {columns.used[step]:,} blocks in use at step {step:,}.",
        config={"displaylogo": False, "toImageButtonOptions": {"format": "svg"}},
    )
    as_image = len(run.log.scenario.requests) > MAX_LANES
    st.html(lane_legend(run.lanes, step, as_image, _theme()) + pool_legend(columns, step, _theme()))
    if words := drawn_as(run.log):
        st.caption(words)


def _drawn(run: PressureRun, step: int) -> "Callable[[], go.Figure]":
    from pages.figures.pressure import pressure_figure

    return partial(pressure_figure, run.log, run.stays, run.columns, run.lanes, step, _theme())


def _theme() -> Theme:
    return DARK if st.context.theme.type == "dark" else LIGHT
