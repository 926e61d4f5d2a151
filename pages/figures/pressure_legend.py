"""What the figure's marks mean, with their counts at the step; classes are pressure.css's."""

import numpy as np

from pages.figures.palette import Theme
from pages.figures.pressure_lanes import NAMES, SHADES, shades
from sim.lanes import Doing, Lanes
from sim.pressure import Pressure


def pool_legend(columns: Pressure, step: int, theme: Theme) -> str:
    """The bands from the bottom up, in blocks; tail waste is in slots of blocks in use."""
    c, mosaic = columns, theme.mosaic
    hatch = f"repeating-linear-gradient(135deg, {theme.rule} 0 1.5px, {theme.bg} 1.5px 5px)"
    parts = (
        ("in use", f"{c.used[step]:,}", mosaic.used),
        ("of these shared", f"{c.shared[step]:,}", mosaic.shared),
        ("tail waste", f"{c.tail_waste[step]:,} slots", mosaic.cached),
        ("cached, free", f"{c.cached_free[step]:,}", hatch),
        ("free", f"{c.free[step]:,}", mosaic.free),
    )
    return _legend("Blocks", [_swatch(name, count, fill) for name, count, fill in parts])


def lane_legend(lanes: Lanes, step: int, as_image: bool, theme: Theme) -> str:
    """What requests do, and how many do it in the step."""
    now = (lanes.start <= step) & (step < lanes.stop)
    count = np.bincount(lanes.doing[now], minlength=len(Doing))
    fills = shades(theme) if as_image else _fills(theme)
    return _legend("Requests", [_swatch(NAMES[d], f"{count[d]:,}", fills[d]) for d in SHADES])


def _fills(theme: Theme) -> dict[Doing, str]:
    dots = f"repeating-linear-gradient(90deg, {theme.rest.edge} 0 2px, {theme.bg} 2px 4px)"
    return {
        Doing.WAITING: theme.line,
        Doing.PREFILL: theme.rest.edge,
        Doing.DECODE: theme.rest.fill,
        Doing.PREEMPTED: dots,
        Doing.RECOMPUTE: theme.ink,
    }


def _swatch(name: str, count: str, fill: str) -> str:
    return f'<span role="listitem"><i style="background: {fill}"></i>{name} <b>{count}</b></span>'


def _legend(title: str, items: list[str]) -> str:
    head = f'<div class="pressure-legend" role="list" aria-label="{title}">'
    return f"{head}<strong>{title}</strong>{''.join(items)}</div>"
