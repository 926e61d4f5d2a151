"""The charts of the Allocation page on screen."""

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    import plotly.graph_objects as go


def show(figure: "go.Figure", name: str, alt: str) -> None:
    """A chart whose only button saves it as a picture of that name."""
    config = {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "png", "scale": 2, "filename": name},
    }
    st.plotly_chart(figure, theme=None, key=f"chart.{name}", config=config, alt=alt)
