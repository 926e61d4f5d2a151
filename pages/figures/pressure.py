"""What happens when the pool is full, in one figure: the requests' lanes above the pool's bands."""

import plotly.graph_objects as go

from pages.figures.palette import Theme
from pages.figures.pressure_bands import bands, steps_a_point
from pages.figures.pressure_lanes import (
    MAX_LANES,
    ROOM,
    lane_image,
    lane_lines,
    lane_places,
    lanes_a_row,
    steps_a_pixel,
)
from sim.event_log import EventLog
from sim.lanes import Lanes
from sim.pressure import Pressure

FONT = "Source Sans, sans-serif"
MARGIN = {"l": 44, "r": 12, "t": 40, "b": 36}
PLOT = 460  # pixels; ROOM of them are the lanes'
HEIGHT = PLOT + MARGIN["t"] + MARGIN["b"]
LANES, POOL = (1 - ROOM / PLOT, 1.0), (0.0, 1 - ROOM / PLOT - 0.05)  # shares of the plot


def pressure_figure(
    log: EventLog, columns: Pressure, lanes: Lanes, hues: dict[int, int], theme: Theme
) -> go.Figure:
    """Lanes and bands over the same steps; `hues` are those of the requests that run now."""
    ids = [spec.id for spec in log.scenario.requests]
    figure = go.Figure(bands(columns, log.scenario.block_size, theme))
    if len(ids) <= MAX_LANES:
        figure.add_traces(lane_lines(lanes, ids, hues, theme))
    else:
        figure.add_trace(lane_image(lanes, log.num_steps, theme))
    _lay_out(figure, log, lanes, hues, theme)
    return figure


def drawn_as(log: EventLog) -> str:
    """What the figure draws together, in a sentence; empty when it draws everything."""
    requests, wide = len(log.scenario.requests), steps_a_point(log.num_steps)
    told = []
    if requests > MAX_LANES:
        high, columns = lanes_a_row(requests), steps_a_pixel(log.num_steps)
        told.append(
            f"A pixel of the lanes stands for {high:,} request{'s' * (high > 1)} and {columns:,} "
            f"step{'s' * (columns > 1)}; of several states it shows the last one of the legend."
        )
    if wide > 1:
        told.append(f"Each point of the bands is the mean of {wide:,} steps.")
    return " ".join(told)


def _lay_out(
    figure: go.Figure, log: EventLog, lanes: Lanes, hues: dict[int, int], theme: Theme
) -> None:
    requests = len(log.scenario.requests)
    axis = {
        "gridcolor": theme.line,
        "linecolor": theme.rule,
        "zeroline": False,
        "fixedrange": True,
        "automargin": False,
    }
    figure.update_layout(
        height=HEIGHT,
        margin=MARGIN,
        paper_bgcolor=theme.bg,
        plot_bgcolor=theme.bg,
        font={"family": FONT, "size": 12, "color": theme.text},
        showlegend=False,
        hovermode="closest",
        dragmode=False,
        hoverlabel={"bgcolor": theme.surface, "font": {"color": theme.text, "family": FONT}},
        xaxis={
            **axis,
            "range": [0, log.num_steps],
            "anchor": "y2",
            "title": {"text": "step"},
            "showgrid": False,
        },
        yaxis={
            **axis,
            "domain": LANES,
            "showgrid": False,
            **_lane_axis(log, lanes, hues, theme),
        },
        yaxis2={**axis, "domain": POOL, "range": [0, max(log.scenario.num_gpu_blocks - 1, 1)]},
    )
    _heading(figure, f"{requests:,} requests, in order of first admission", LANES[1], theme)
    _heading(figure, f"{log.scenario.num_gpu_blocks - 1:,} blocks", POOL[1], theme)


def _lane_axis(
    log: EventLog, lanes: Lanes, hues: dict[int, int], theme: Theme
) -> dict[str, object]:
    """Who has a hue, by name at its lane; in a large run none has a lane of its own."""
    if len(lanes.order) > MAX_LANES:
        return {"range": [len(lanes.order) - 0.5, -0.5]}
    place, _ = lane_places(lanes.order, hues)
    words = [
        f'<span style="color:{theme.owners[hue].edge}"><b>{log.scenario.requests[r].id}</b></span>'
        for r, hue in hues.items()
    ]
    return {
        "tickmode": "array",
        "tickvals": place[list(hues)],
        "ticktext": words,
        "range": [ROOM, 0],
    }


def _heading(figure: go.Figure, words: str, at: float, theme: Theme) -> None:
    figure.add_annotation(
        text=f"<b>{words}</b>",
        xref="paper",
        yref="paper",
        x=0,
        y=at,
        xanchor="left",
        yanchor="bottom",
        showarrow=False,
        font={"size": 12, "color": theme.text},
    )


def with_playhead(figure: go.Figure, step: int, num_steps: int, theme: Theme) -> go.Figure:
    """The figure as it stands alone: the playhead in ink, and a veil over what is not yet."""
    figure.add_shape(
        type="rect",
        x0=step + 1,
        x1=num_steps,
        y0=0,
        y1=1,
        yref="paper",
        fillcolor=theme.bg,
        opacity=0.5,
        line={"width": 0},
    )
    figure.add_shape(
        type="line",
        x0=step + 1,
        x1=step + 1,
        y0=0,
        y1=1,
        yref="paper",
        line={"width": 2, "color": theme.ink},
    )
    figure.add_annotation(
        text=f"<b>step {step:,}</b>",
        x=step + 1,
        y=1,
        yref="paper",
        yanchor="bottom",
        yshift=16,
        xanchor="left" if step * 2 < num_steps else "right",
        showarrow=False,
        font={"size": 12, "color": theme.ink},
    )
    return figure
