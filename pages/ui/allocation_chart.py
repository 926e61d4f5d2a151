"""The charts of the Allocation page on screen, and what they show as files."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.figures.palette import DARK, LIGHT, Theme
from pages.ui.downloads import File

if TYPE_CHECKING:
    import plotly.graph_objects as go


def theme() -> Theme:
    """The one that the visitor sees."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def show(figure: "go.Figure", name: str, alt: str) -> None:
    """A chart whose only button saves it as a picture of that name."""
    config = {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "png", "scale": 2, "filename": name},
    }
    st.plotly_chart(figure, theme=None, key=f"chart.{name}", config=config, alt=alt)


def downloads(name: str, *files: File) -> None:
    """What a chart was made of and the chart itself, each made when it is asked for."""
    with st.container(horizontal=True):
        for label, ending, make in files:
            st.download_button(label, make, f"{name}{ending}", on_click="ignore")
