"""What the charts of the Allocation page have in common: grey on the page's ground, no zoom.

Charts are put together as plain dicts: Plotly checks what it is given each time it is given
something, and for one whole figure that is quick.
"""

from typing import Any

from pages.figures.palette import Theme

FONT = "Source Sans, sans-serif"
Part = dict[str, Any]


def layout(height: int, theme: Theme, **more: Any) -> Part:
    """A figure's ground, type and labels."""
    return {
        "height": height,
        "paper_bgcolor": theme.bg,
        "plot_bgcolor": theme.bg,
        "font": {"family": FONT, "size": 12, "color": theme.text},
        "hoverlabel": {"bgcolor": theme.surface, "font": {"color": theme.text, "family": FONT}},
        **more,
    }


def axis(theme: Theme, **more: Any) -> Part:
    """An axis in quiet lines that nobody can drag."""
    return {
        "gridcolor": theme.line,
        "linecolor": theme.rule,
        "zeroline": False,
        "fixedrange": True,
        "tickfont": {"size": 11.5, "color": theme.muted},
        **more,
    }


def heading(words: str, at: float, theme: Theme, side: str = "left") -> Part:
    """Words above a plot whose top is `at`, as a share of the figure."""
    return {
        "text": words,
        "xref": "paper",
        "yref": "paper",
        "x": 0 if side == "left" else 1,
        "y": at,
        "xanchor": side,
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 13, "color": theme.text},
    }
