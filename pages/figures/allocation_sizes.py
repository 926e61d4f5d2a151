"""What the block size does, as three small charts over it; the size on screen is in ink."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import plotly.graph_objects as go

from pages.figures.allocation_chart import Part, axis, heading, layout
from pages.figures.palette import Theme
from sim.block_sizes import ENTRY_BYTES, BlockSizeRun

HEIGHT = 230
MARGIN = {"l": 8, "r": 8, "t": 56, "b": 40}
LABEL = {"size": 11.5}
HALF = 0.4  # of a bar's width, in sizes


def size_figures(runs: Sequence[BlockSizeRun], current: int, theme: Theme) -> dict[str, go.Figure]:
    """Charts by what they are about. A size whose run never ends has an empty dashed place."""
    done = [run for run in runs if not run.stalled]
    found = {run.block_size: run.hit for run in done}
    draw = partial(_chart, runs, current, theme)
    return {
        "Tail waste": draw(
            "Held slots without a token",
            "%",
            {run.block_size: 100 * run.empty_share for run in done},
            ".1f",
        ),
        "Table length": draw(
            "Longest block table",
            "entries; notch: the mean",
            {run.block_size: run.longest for run in done},
            ",d",
            more=[_means(done, theme)],
        ),
        "Prefix hits": draw(
            "Prompt tokens found in the cache",
            "dashed: missed",
            found,
            ",d",
            shapes=_missed(runs, found, theme),
        ),
    }


def _chart(
    runs: Sequence[BlockSizeRun],
    current: int,
    theme: Theme,
    title: str,
    unit: str,
    values: Mapping[int, float],
    how: str,
    more: Sequence[Part] = (),
    shapes: Sequence[Part] = (),
) -> go.Figure:
    """Bars with their value above."""
    names = [str(run.block_size) for run in runs]
    across = {"type": "category", "categoryorder": "array", "categoryarray": names, "tickangle": 0}
    look: dict[str, Any] = {
        "margin": MARGIN,
        "bargap": 1 - 2 * HALF,
        "showlegend": False,
        "annotations": [heading(f"<b>{title}</b>  {unit}", 1 + 16 / 134, theme)],
        "shapes": [*_nothing(runs, theme), *shapes],
        "xaxis": axis(
            theme, title={"text": "block size", "font": {"size": 12}}, showgrid=False, **across
        ),
        "yaxis": axis(theme, visible=False, range=[0, 1.1 * max([1, *values.values()])]),
    }
    bars = _bars(values, how, current, theme)
    return go.Figure([bars, *more], layout(HEIGHT, theme, **look))


def _bars(values: Mapping[int, float], how: str, current: int, theme: Theme) -> Part:
    fills = [theme.ink if size == current else theme.rest.fill for size in values]
    return {
        "type": "bar",
        "x": list(map(str, values)),
        "y": list(values.values()),
        "marker": {"color": fills},
        "texttemplate": f"%{{y:{how}}}",
        "textposition": "outside",
        "textangle": 0,
        "textfont": LABEL,
        "cliponaxis": False,
        "hovertemplate": f"blocks of %{{x}}: %{{y:{how}}}<extra></extra>",
    }


def _means(done: Sequence[BlockSizeRun], theme: Theme) -> Part:
    """A notch in each bar."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [str(run.block_size) for run in done],
        "y": [run.mean_entries for run in done],
        "marker": {"symbol": "line-ew", "size": 16, "line": {"width": 2, "color": theme.bg}},
        "customdata": [run.longest * ENTRY_BYTES for run in done],
        "hovertemplate": "blocks of %{x}: mean %{y:,.1f} entries, longest %{customdata:,} B"
        "<extra></extra>",
    }


def _nothing(runs: Sequence[BlockSizeRun], theme: Theme) -> list[Part]:
    """An empty dashed place for each size whose run never ends."""
    return [
        _dashed(place, 0, 1, theme) | {"yref": "y domain"}
        for place, run in enumerate(runs)
        if run.stalled
    ]


def _missed(runs: Sequence[BlockSizeRun], found: Mapping[int, float], theme: Theme) -> list[Part]:
    """From what a size finds up to what the best one does."""
    most = max(found.values(), default=0)
    return [
        _dashed(place, found[run.block_size], most, theme)
        for place, run in enumerate(runs)
        if found.get(run.block_size, most) < most
    ]


def _dashed(place: int, low: float, high: float, theme: Theme) -> Part:
    line = {"width": 1, "color": theme.rule, "dash": "2px,2px"}
    sides = {"x0": place - HALF, "x1": place + HALF, "y0": low, "y1": high}
    return {"type": "rect", **sides, "line": line, "layer": "below"}
