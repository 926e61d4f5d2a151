"""Where the pool's blocks are, as bands over all steps that add up to the pool."""

import numpy as np
import plotly.graph_objects as go

from pages.figures.palette import Theme
from sim.columns import Column
from sim.pressure import Pressure

MAX_POINTS = 2_000


def steps_a_point(num_steps: int) -> int:
    """How many steps each point of the bands stands for: it is their mean."""
    return -(-num_steps // MAX_POINTS)


def bands(columns: Pressure, block_size: int, theme: Theme) -> list[go.Scatter]:
    """Shared, used, held without a token, cached and free, free: from the bottom up, in blocks."""
    wide = steps_a_point(columns.num_steps)
    waste = columns.tail_waste / block_size
    parts = (
        ("shared", columns.shared, theme.mosaic.shared),
        ("used by one", columns.used - columns.shared - waste, theme.mosaic.used),
        ("tail waste", waste, theme.mosaic.cached),
        ("cached, free", columns.cached_free, theme.bg),
        ("free", columns.free, theme.mosaic.free),
    )
    start = np.arange(0, columns.num_steps, wide)
    x = np.append(start, columns.num_steps)
    return [_band(name, x, mean(values, wide), fill, theme) for name, values, fill in parts]


def mean(values: Column, wide: int) -> Column:
    """Means of `wide` values each; the last may be of fewer."""
    start = np.arange(0, len(values), wide)
    count = np.diff(np.append(start, len(values)))
    return np.asarray(np.add.reduceat(values.astype(np.float64), start) / count)


def _band(name: str, x: Column, y: Column, fill: str, theme: Theme) -> go.Scatter:
    hatch = {"shape": "/", "size": 6, "solidity": 0.3, "fgcolor": theme.rule, "bgcolor": fill}
    return go.Scatter(
        x=x,
        y=np.append(y, y[-1:]).astype(np.float32),
        name=name,
        yaxis="y2",
        mode="lines",
        line={"width": 0.5, "color": theme.rule, "shape": "hv"},
        stackgroup="pool",
        fillcolor=fill,
        fillpattern=hatch if name == "cached, free" else None,
        hovertemplate="%{y:,.1f} " + name + "<extra></extra>",
    )
