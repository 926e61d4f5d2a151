"""Parity of a run: the error of every output on a log axis, under the tolerance stated before."""

import numpy as np
import plotly.graph_objects as go

from kernels.job import Result
from pages.figures.palette import Theme
from pages.figures.words import scientific

MAX_POINTS = 3_000
MAX_LABELS = 6
FONT = "Source Sans, sans-serif"


def parity(result: Result, theme: Theme) -> go.Figure:
    """|kernel − float64| per output, in the order sequence, head, dimension.

    Above MAX_POINTS outputs every n-th is drawn, and always the worst. An output without any error
    stands as a ring on the floor, one that is no finite number as a cross on the ceiling.
    """
    error = result.error.ravel()
    floor, ceiling = _range(error, result.tolerance)
    figure = go.Figure()
    figure.add_trace(_forbidden(error.size, result.tolerance, ceiling, theme))
    for name, symbol, colour, keep in (
        ("within", "circle", theme.rest.fill, (error > 0) & (error <= result.tolerance)),
        ("exact", "circle-open", theme.rest.edge, error == 0),
        ("outside", "x", theme.ink, error > result.tolerance),
    ):
        index = _thinned(np.flatnonzero(keep), error)
        marker = {"symbol": symbol, "color": colour, "size": 4 if name == "within" else 6}
        figure.add_trace(
            go.Scatter(
                x=index,
                y=np.clip(error[index], floor, ceiling),
                mode="markers",
                name=name,
                marker=marker,
                customdata=_hover(result, index),
                hovertemplate=_HOVER,
                cliponaxis=False,
            )
        )
    _mark_worst(figure, error, floor, ceiling, theme)
    _mark_tolerance(figure, result.tolerance, theme)
    _lay_out(figure, result, (floor, ceiling), theme)
    return figure


def num_drawn(result: Result) -> int:
    """How many of the outputs the figure draws."""
    error = result.error.ravel()
    groups = (error == 0, (error > 0) & (error <= result.tolerance), error > result.tolerance)
    return sum(len(_thinned(np.flatnonzero(keep), error)) for keep in groups)


_HOVER = (
    "sequence %{customdata[0]}, head %{customdata[1]}, dimension %{customdata[2]}<br>"
    "kernel %{customdata[3]:.7g}<br>float64 %{customdata[4]:.7g}<br>error %{customdata[5]:.2e}"
    "<extra></extra>"
)


def _range(error: np.ndarray, tolerance: float) -> tuple[float, float]:
    """From a decade below the smallest error, at most six below the tolerance, to above it."""
    positive = error[(error > 0) & np.isfinite(error)]
    low = max(positive.min(initial=tolerance) / 10, tolerance * 1e-6)
    return float(low), float(max(tolerance * 6, positive.max(initial=0) * 2))


def _thinned(index: np.ndarray, error: np.ndarray) -> np.ndarray:
    if len(index) <= MAX_POINTS:
        return index
    worst = index[np.argmax(error[index])]
    return np.union1d(index[:: -(-len(index) // MAX_POINTS)], [worst])


def _hover(result: Result, index: np.ndarray) -> np.ndarray:
    seq, head, dim = np.unravel_index(index, result.output.shape)
    values = (result.output, result.reference, result.error)
    return np.column_stack([seq, head, dim, *(value.ravel()[index] for value in values)])


def _forbidden(size: int, tolerance: float, ceiling: float, theme: Theme) -> go.Scatter:
    """The hatched band above the tolerance."""
    return go.Scatter(
        x=[-0.5, size - 0.5, size - 0.5, -0.5],
        y=[tolerance, tolerance, ceiling, ceiling],
        fill="toself",
        fillpattern={"shape": "/", "size": 6, "fgcolor": theme.rule, "bgcolor": theme.bg},
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        name="outside tolerance",
    )


def _mark_worst(
    figure: go.Figure, error: np.ndarray, floor: float, ceiling: float, theme: Theme
) -> None:
    worst = int(np.argmax(error))
    at = float(np.clip(error[worst], floor, ceiling))
    ring = {"symbol": "circle-open", "size": 12, "color": theme.ink, "line": {"width": 2}}
    figure.add_trace(
        go.Scatter(x=[worst], y=[at], mode="markers", marker=ring, hoverinfo="skip", name="worst")
    )
    figure.add_annotation(
        x=worst,
        y=np.log10(at),
        text=f"worst {scientific(error[worst])}",
        showarrow=False,
        yshift=16,
        xanchor="left" if worst < 0.2 * error.size else "right",
        bgcolor=theme.surface,
        font={"color": theme.ink, "size": 12},
    )


def _mark_tolerance(figure: go.Figure, tolerance: float, theme: Theme) -> None:
    figure.add_hline(tolerance, line={"color": theme.ink, "width": 2})
    figure.add_annotation(
        x=0,
        xref="paper",
        xanchor="left",
        xshift=6,
        y=np.log10(tolerance),
        yshift=12,
        text=f"tolerance {scientific(tolerance)}, stated before the run",
        showarrow=False,
        bgcolor=theme.bg,
        font={"color": theme.ink, "size": 12},
    )


def _lay_out(figure: go.Figure, result: Result, limits: tuple[float, float], theme: Theme) -> None:
    num_seqs, per_seq = result.job.num_seqs, result.output[0].size
    for seq in range(1, num_seqs) if num_seqs <= 64 else ():
        line = {"color": theme.rule, "width": 1, "dash": "dot"}
        figure.add_vline(seq * per_seq - 0.5, line=line)
    labelled = range(0, num_seqs, -(-num_seqs // MAX_LABELS))
    figure.update_xaxes(
        range=[-0.5, num_seqs * per_seq - 0.5],
        tickvals=[(seq + 0.5) * per_seq - 0.5 for seq in labelled],
        ticktext=[f"seq {seq}<br>{result.job.seq_lens[seq]:,} tok" for seq in labelled],
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(
        type="log",
        range=np.log10(limits).tolist(),
        dtick=1,
        exponentformat="e",
        gridcolor=theme.line,
    )
    figure.update_layout(
        height=420,
        margin={"l": 56, "r": 12, "t": 8, "b": 48},
        showlegend=False,
        paper_bgcolor=theme.bg,
        plot_bgcolor=theme.surface,
        font={"color": theme.text, "size": 12, "family": FONT},
        hoverlabel={"bgcolor": theme.bg, "font": {"color": theme.ink}},
    )
