"""Steps as buttons: a click takes a player there, and the step on screen is marked as it plays."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class StepLink:
    """A step, the words on its button, and what is told beside it, if anything."""

    step: int
    label: str
    text: str = ""


_component = st.components.v2.component(
    "pagedattention.step_links",
    css=(HERE / "step_links.css").read_text(),
    js=(HERE / "step_links.js").read_text(),
)


def step_links(links: Sequence[StepLink], step: int, *, player: str, key: str) -> None:
    """Show them, below each other where something is told, else in a row.

    `player` is the key of the player that goes there; `step` is where it stands.
    """
    rows = [asdict(link) for link in links]
    _component(data={"player": player, "step": step, "rows": rows}, key=key)
