"""What the Pressure page shows of a run: lanes and bands, the pool, and the step in words."""

import streamlit as st

from pages.player import player
from pages.playhead import Jump, Plot, playhead
from pages.ui.downloads import figure_file, run_files, table_file
from pages.ui.moment import Moment
from pages.ui.page import complain
from pages.ui.pressure_asked import Asked
from pages.ui.pressure_run import PressureRun
from pages.ui.pressure_still import still_pool
from pages.ui.pressure_tables import hit_rates, preemptions_of, steps_of
from pages.ui.pressure_told import lead_of, lines_of
from pages.ui.runs import on_screen, run_of
from pages.ui.stalled import why_stalled
from pages.ui.step import asked_step, keep_step
from pages.ui.theme import shown_theme

JUMP, LEFT = "pressure:jump", "pressure:jump:left"  # the last order to the player, and from where


@st.fragment
def pressure_stage(asked: Asked) -> None:
    """Only this part runs again when the player stops."""
    run = run_of(asked.scenario).pressure
    last, left_at = run.log.num_steps - 1, f"pressure.{asked.slug}:left_at"
    step = asked_step(last, opening=min(st.session_state.get(left_at, asked.opening), last))
    top, pool = st.container(), st.container()
    player_key = f"pressure.{asked.slug}.player" if run.is_played else None
    if player_key:
        with pool:
            step = _ordered(_played(run, player_key, step))
    st.session_state[left_at] = step
    keep_step(step)
    now = Moment(run, step, shown_theme())
    with top:
        _step(now, player_key)
    if not player_key:
        with pool:
            still_pool(now)
    hit_rates(run, step)
    _files(now)
    on_screen(asked.scenario, step, "Pressure")


def _played(run: PressureRun, key: str, step: int) -> int:
    """The step that the player, the pool mosaic, stands at."""
    state = player(run.pool_blob, key=key, step=step, request=st.query_params.get("request"))
    if state.request:
        st.query_params["request"] = state.request
    return state.step


def _step(now: Moment, player_key: str | None) -> None:
    """The step in a sentence, in the figure, and in numbered lines."""
    if now.run.log.stalled:
        complain(why_stalled(now.run.log))
    st.html(lead_of(now))
    figure, lines = st.columns([0.74, 0.26], gap="medium")
    with figure:
        _figure(now, player_key)
    with lines:
        _next_events(now)
        st.html(lines_of(now))


def _figure(now: Moment, player_key: str | None) -> None:
    from pages.figures.pressure import HEIGHT, MARGIN, drawn_as
    from pages.figures.pressure_legend import lane_legend, pool_legend

    run, columns, step = now.run, now.run.columns, now.step
    with st.container(key="pressure-figure", gap=None):
        st.plotly_chart(
            now.figure(),
            theme=None,
            key="pressure.chart",
            alt=f"Lanes of {len(run.log.scenario.requests):,} requests over {columns.num_steps:,} "
            f"steps, above the pool: {columns.used[step]:,} blocks in use at step {step:,}.",
            config={"displaylogo": False, "toImageButtonOptions": {"format": "svg"}},
        )
        playhead(
            key="pressure.playhead",
            player=player_key,
            step=step,
            num_steps=run.log.num_steps,
            jump=_jump(),
            plot=Plot(HEIGHT, MARGIN["l"], MARGIN["r"], MARGIN["t"], MARGIN["b"]),
            moved=keep_step,
        )
    requests = lane_legend(run.lanes, step, run.has_still_figure, now.theme)
    st.html(requests + pool_legend(columns, step, now.theme))
    if words := drawn_as(run.log):
        st.caption(words)


def _next_events(now: Moment) -> None:
    """Buttons that go to the next step in which something happens."""
    columns = now.run.columns
    with st.container(horizontal=True, gap="small"):
        for name, happened in (
            ("preemption", columns.preemptions),
            ("eviction", columns.evictions),
            ("finish", columns.finishes),
        ):
            target = now.next(happened)
            st.button(
                f"Next {name}",
                disabled=target is None,
                on_click=_go_to,
                args=(now.step, target),
                help=None if target is None else f"step {target:,}",
            )


def _go_to(now: int, step: int) -> None:
    """Stand at a step, and have the playhead bring the player there."""
    keep_step(step)
    st.session_state[LEFT] = now
    st.session_state[JUMP] = Jump(_jump().number + 1, step)


def _jump() -> Jump:
    jump: Jump = st.session_state.get(JUMP, Jump(0, 0))
    return jump


def _ordered(step: int) -> int:
    """Where a button sent the player, until it says that it moved; then where it is."""
    if st.session_state.get(LEFT) == step:
        return _jump().step
    st.session_state.pop(LEFT, None)
    return step


def _files(now: Moment) -> None:
    run = now.run
    run_files(
        run.log,
        table_file("steps", lambda: steps_of(run)),
        table_file("preemptions", lambda: preemptions_of(run)),
        figure_file("figure", now.figure_alone, f", step {now.step}"),
    )
