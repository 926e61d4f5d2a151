"""A lane for each request: waiting, prefill, decode, preempted, recomputing.

Up to MAX_LANES each interval is a line. Above, lanes lie together in one image of shades, several a
row and several steps a pixel; where they differ the last one of SHADES is shown.
"""

import numpy as np
import plotly.graph_objects as go

from pages.figures.palette import Theme
from sim.columns import Column
from sim.lanes import Doing, Lanes

MAX_LANES = 120
MAX_ROWS, MAX_COLUMNS = 300, 900
ROOM, NAME, MAX_HEIGHT = 300, 12, 16  # pixels: of all lanes, of one with a name, of any
REST = -1  # no hue
SHADES = (Doing.WAITING, Doing.DECODE, Doing.PREFILL, Doing.RECOMPUTE, Doing.PREEMPTED)
NAMES = {
    Doing.WAITING: "waiting",
    Doing.PREFILL: "prefill",
    Doing.DECODE: "decode",
    Doing.PREEMPTED: "preempted",
    Doing.RECOMPUTE: "recompute",
}


def lane_lines(
    lanes: Lanes, ids: list[str], hues: dict[int, int], theme: Theme
) -> list[go.Scatter]:
    """Every interval as a line; who runs now in its hue, all others in grey."""
    hue = np.full(len(ids), REST)
    hue[list(hues)] = list(hues.values())
    place, height = lane_places(lanes.order, hues)
    traces = []
    for doing in NAMES:
        for owner in range(REST, len(theme.owners)):
            chosen = (lanes.doing == doing) & (hue[lanes.request] == owner)
            if chosen.any():
                style = _style(doing, owner, 0.7 * height[owner != REST], theme)
                traces.append(_line(lanes, chosen, place, ids, style))
    lost = lanes.doing == Doing.PREEMPTED
    return [*traces, _crosses(lanes, lost, place, ids, theme)]


def lane_places(order: Column, hues: dict[int, int]) -> tuple[Column, tuple[float, float]]:
    """The middle of each request's lane from the top, in pixels, and how high lanes are.

    Who has a hue has a lane that is high enough for its name; the others share the rest.
    """
    num_rest = len(order) - len(hues)
    high = max(NAME, min(ROOM / len(order), MAX_HEIGHT))
    low = min((ROOM - high * len(hues)) / max(num_rest, 1), MAX_HEIGHT)
    heights = np.full(len(order), low)
    heights[list(hues)] = high
    below = np.cumsum(heights[order])
    place = np.empty(len(order))
    place[order] = below - heights[order] / 2
    return place, (low, high)


def _style(doing: Doing, owner: int, width: float, theme: Theme) -> dict[str, object]:
    colours = theme.rest if owner == REST else theme.owners[owner]
    return {
        Doing.WAITING: {"width": 1, "color": theme.line},
        Doing.PREFILL: {"width": width, "color": colours.edge},
        Doing.DECODE: {"width": width, "color": colours.fill},
        Doing.PREEMPTED: {"width": 1.2, "color": colours.edge, "dash": "2px,2px"},
        Doing.RECOMPUTE: {"width": width, "color": theme.ink},
    }[doing] | {"name": NAMES[doing]}


def _line(
    lanes: Lanes, chosen: Column, place: Column, ids: list[str], style: dict[str, object]
) -> go.Scatter:
    """Each interval from its first step to its end, with a gap behind it."""
    start, stop, request = (c[chosen] for c in (lanes.start, lanes.stop, lanes.request))
    name = str(style["name"])
    gap = np.full(len(start), np.nan)
    words = [
        f"{ids[r]}: {name}, steps {i:,} to {j - 1:,}"
        for r, i, j in zip(request.tolist(), start.tolist(), stop.tolist(), strict=True)
    ]
    return go.Scatter(
        x=np.column_stack([start, stop, gap]).ravel(),
        y=np.repeat(place[request], 3),
        mode="lines",
        name=name,
        line={key: value for key, value in style.items() if key != "name"},
        text=np.repeat(words, 3),
        hovertemplate="%{text}<extra></extra>",
    )


def _crosses(lanes: Lanes, lost: Column, place: Column, ids: list[str], theme: Theme) -> go.Scatter:
    request, start = lanes.request[lost], lanes.start[lost]
    return go.Scatter(
        x=start,
        y=place[request],
        mode="markers",
        name="preempted",
        marker={"symbol": "x-thin", "size": 6, "line": {"width": 1.6, "color": theme.ink}},
        text=[f"{ids[r]} preempted in step {s:,}" for r, s in zip(request, start, strict=True)],
        hovertemplate="%{text}<extra></extra>",
    )


def lane_image(lanes: Lanes, num_steps: int, theme: Theme) -> go.Heatmap:
    """All lanes as one image, a shade a state."""
    num_lanes = len(lanes.order)
    high, wide = lanes_a_row(num_lanes), steps_a_pixel(num_steps)
    place = np.empty(num_lanes, np.int64)
    place[lanes.order] = np.arange(num_lanes)
    image = np.zeros((-(-num_lanes // high), -(-num_steps // wide)), np.uint8)
    for shade, doing in enumerate(SHADES, 1):
        chosen = lanes.doing == doing
        row = place[lanes.request[chosen]] // high
        image[_covered(image.shape, row, lanes.start[chosen], lanes.stop[chosen], wide)] = shade
    return go.Heatmap(
        z=image,
        x0=wide / 2,
        dx=wide,
        y0=(high - 1) / 2,
        dy=high,
        zmin=0,
        zmax=len(SHADES),
        colorscale=_steps_of(theme),
        showscale=False,
        hoverinfo="skip",
    )


def lanes_a_row(num_lanes: int) -> int:
    """How many requests share a row of the image."""
    return -(-num_lanes // MAX_ROWS)


def steps_a_pixel(num_steps: int) -> int:
    """How many steps share a column of the image."""
    return -(-num_steps // MAX_COLUMNS)


def _covered(shape: tuple[int, int], row: Column, start: Column, stop: Column, wide: int) -> Column:
    """Which pixels some of the intervals touch."""
    change = np.zeros((shape[0], shape[1] + 1), np.int32)
    np.add.at(change, (row, start // wide), 1)
    np.add.at(change, (row, (stop - 1) // wide + 1), -1)
    return np.asarray(np.cumsum(change, axis=1)[:, :-1] > 0)


def shades(theme: Theme) -> dict[Doing, str]:
    """The greys of the image."""
    greys = (theme.line, theme.mosaic.cached, theme.mosaic.used, theme.mosaic.used, theme.ink)
    return dict(zip(SHADES, greys, strict=True))


def _steps_of(theme: Theme) -> list[tuple[float, str]]:
    """A colour scale of as many plain steps as there are shades, the background first."""
    colours = [theme.bg, *shades(theme).values()]
    edges = np.linspace(0, 1, len(colours) + 1)
    pairs = zip(edges[:-1], edges[1:], colours, strict=True)
    return [(float(at), colour) for low, high, colour in pairs for at in (low, high)]
