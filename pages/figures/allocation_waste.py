"""Where the slots went over the run: a row for each way of holding memory, on the same axes."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from pages.figures.allocation_chart import Part, axis, heading, layout
from pages.figures.palette import Theme
from pages.figures.pressure_bands import mean
from sim.columns import Column
from sim.waste_history import WasteHistory

MAX_POINTS = 600  # of a row; above, each is the mean of some steps
ROW, GAP = 84, 34  # pixels: of a plot, and above it for its heading
MARGIN = {"l": 48, "r": 12, "t": 64, "b": 40}
FAR = 3  # times the most that is taken: a capacity beyond it is not drawn
SLOTS = {"nticks": 3, "tickformat": "~s", "showline": True}
STATES = {
    "used": "with a token",
    "reserved": "will get one",
    "internal": "never will",
    "external": "lost to rounding and gaps",
}


def waste_figure(
    ways: Mapping[str, WasteHistory], capacity: int, step: int, theme: Theme
) -> go.Figure:
    """All ways over the steps of the paged run; what is later than `step` is faded."""
    num_steps, num_rows = len(next(iter(ways.values())).used), len(ways)
    plot, top = num_rows * (ROW + GAP) - GAP, highest(ways, capacity)
    traces: list[Part] = []
    words: list[Part] = []
    shapes: list[Part] = []
    axes: dict[str, Part] = {}
    for row, (name, history) in enumerate(ways.items()):
        above = 1 - row * (ROW + GAP) / plot
        traces += _states(history, row, theme)
        if capacity <= top:
            traces.append(_capacity(capacity, num_steps, row, theme))
        share = f"<b>{100 * history.empty_share:.1f} %</b> empty"
        words += [heading(f"<b>{name}</b>", above, theme), heading(share, above, theme, "right")]
        shapes += _now(step, num_steps, row, theme)
        domain = (max(above - ROW / plot, 0.0), above)
        axes[_axis("yaxis", row)] = axis(theme, **SLOTS, domain=domain, range=[0, top])
    across = {"range": [0, num_steps], "anchor": _axis("y", num_rows - 1), "showgrid": False}
    axes["xaxis"] = axis(theme, title={"text": "step", "font": {"size": 12}}, **across)
    look = {"margin": MARGIN, "hovermode": "x unified", "legend": _legend(plot), **axes}
    high = plot + MARGIN["t"] + MARGIN["b"]
    return go.Figure(traces, layout(high, theme, annotations=words, shapes=shapes, **look))


def highest(ways: Mapping[str, WasteHistory], capacity: int) -> float:
    """Where the axes end: above the capacity, if it is not far above all that is taken."""
    most = max(int((h.held + h.external).max(initial=0)) for h in ways.values())
    return 1.06 * (capacity if capacity <= FAR * most else max(most, 1))


def scale_told(ways: Mapping[str, WasteHistory], capacity: int) -> str:
    """What the axes leave out or draw together, in sentences; empty when they do not."""
    told = []
    if capacity > highest(ways, capacity):
        told.append(f"All {capacity:,} slots there are would be far above the axes.")
    wide = steps_a_point(len(next(iter(ways.values())).used))
    if wide > 1:
        told.append(f"Each point is the mean of {wide:,} steps.")
    return " ".join(told)


def steps_a_point(num_steps: int) -> int:
    """How many steps each point stands for."""
    return -(-num_steps // MAX_POINTS)


def _states(history: WasteHistory, row: int, theme: Theme) -> list[Part]:
    """On top of each other."""
    num_steps = len(history.used)
    wide = steps_a_point(num_steps)
    x = np.append(np.arange(0, num_steps, wide), num_steps)
    return [_state(state, x, mean(getattr(history, state), wide), row, theme) for state in STATES]


def _state(state: str, x: Column, y: Column, row: int, theme: Theme) -> Part:
    return {
        "type": "scatter",
        "x": x,
        "y": np.append(y, y[-1:]).astype(np.float32),
        "name": STATES[state],
        "yaxis": _axis("y", row),
        "mode": "lines",
        "line": {"width": 0.7, "color": theme.rule, "shape": "hv"},
        "stackgroup": f"row {row}",
        "showlegend": row == 0,
        "hovertemplate": "%{y:,.6~g}",
        **_fill(state, theme),
    }


def _fill(state: str, theme: Theme) -> Part:
    """Full is solid, what will be filled is light, what never will is hatched or dotted."""
    if state in ("used", "reserved"):
        return {"fillcolor": theme.mosaic.used if state == "used" else theme.line}
    shape, size = ("/", 7) if state == "internal" else (".", 5)
    pattern = {"shape": shape, "size": size, "solidity": 0.28, "fgcolor": theme.rest.edge}
    return {"fillcolor": theme.bg, "fillpattern": pattern | {"bgcolor": theme.bg}}


def _capacity(capacity: int, num_steps: int, row: int, theme: Theme) -> Part:
    return {
        "type": "scatter",
        "x": [0, num_steps],
        "y": [capacity, capacity],
        "name": f"all {capacity:,} slots",
        "yaxis": _axis("y", row),
        "mode": "lines",
        "line": {"width": 1.5, "color": theme.ink, "dash": "4px,3px"},
        "showlegend": row == 0,
        "hoverinfo": "skip",
    }


def _legend(plot: int) -> Part:
    """Above the first heading."""
    return {
        "orientation": "h",
        "x": 0,
        "y": 1 + 24 / plot,
        "yanchor": "bottom",
        "traceorder": "normal",
        "itemclick": False,
        "itemdoubleclick": False,
    }


def _axis(letter: str, row: int) -> str:
    """Plotly's name of a row's axis: y, y2, y3, …"""
    return letter if row == 0 else f"{letter}{row + 1}"


def _now(step: int, num_steps: int, row: int, theme: Theme) -> list[Part]:
    """A veil over what is not yet, and the playhead in ink."""
    place = {"y0": 0, "y1": 1, "yref": f"{_axis('y', row)} domain", "x0": step + 1}
    veil = {"fillcolor": theme.bg, "opacity": 0.5, "line": {"width": 0}}
    ink = {"width": 2, "color": theme.ink}
    return [
        {"type": "rect", "x1": num_steps, **place, **veil},
        {"type": "line", "x1": step + 1, **place, "line": ink},
    ]
