"""The playhead over a chart: it goes where the player goes, and a click on the chart moves both.

It lies over the chart that stands before it in the same container. The chart keeps the mouse, so
its own tooltips work; it must not zoom, as the playhead knows its margins and nothing else of it.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Plot:
    """Where a chart of some height draws its steps, in pixels from its edges."""

    height: int
    left: int
    right: int
    top: int
    bottom: int


@dataclass(frozen=True, slots=True)
class Jump:
    """An order to go to a step: obeyed once for each `number`."""

    number: int
    step: int


_component = st.components.v2.component(
    "pagedattention.playhead",
    css=(HERE / "playhead.css").read_text(),
    js=(HERE / "playhead.js").read_text(),
)


def playhead(
    *,
    key: str,
    player: str | None,
    step: int,
    num_steps: int,
    jump: Jump,
    plot: Plot,
    moved: Callable[[int], None],
) -> None:
    """Draw it at `step`, and from then on where the player of the key `player` goes.

    Without a player a click calls `moved`, before the page runs again.
    """
    _component(
        data={
            "player": player,
            "step": step,
            "steps": num_steps,
            "jump": asdict(jump),
            "plot": asdict(plot),
        },
        key=key,
        on_step_change=lambda: moved(int(st.session_state[key].step)),
    )
