"""Times of kernels on one decode step, or one write, as rows: a mark on a log scale, µs, TB/s."""

import math
from collections.abc import Sequence
from html import escape

from kernels.recorded import LIMIT, OURS, Point, Row
from pages.figures.words import size

HEAD = (
    '<div class="row head"><b></b><span class="track"></span><span>µs</span><span>TB/s</span></div>'
)
EMPTY = (
    '<div class="kernel-times"><div class="row empty"><b>This project’s kernel</b>'
    '<span class="track"><em>runs on a GPU host only</em></span>'
    "<span class='none'>not recorded yet</span></div></div>"
)
KERNELS = {
    "read limit": "Plain read of the same bytes",
    "copy": "Plain copy of the same bytes",
    OURS: "This project’s kernel",
    "v1": "Classic v1, ours",
    "v2": "Classic v2, ours",
    "SDPA, dense": "torch SDPA, dense cache",
    "flash": "This project’s writer",
    "x-split": "Writer of the classic layout",
    "FA3": "FlashAttention-3",
}


def times(point: Point | None) -> str:
    """HTML, a row for each kernel that was timed; classes are run_kernel.css's.

    Without any, an empty row.
    """
    timed = [(row, row.median_us) for row in point.rows if row.median_us] if point else []
    if point is None or not timed:
        return EMPTY
    low, high = _decades([median_us for _, median_us in timed])
    body = "".join(_row(point, row, low, high) for row, _ in timed)
    return f'<div class="kernel-times">{HEAD}{body}{_axis(low, high)}</div>'


def bytes_moved(point: Point) -> str:
    """What a call reads, or a write moves, and whether from memory."""
    moved = "read" if point.kind == "decode" else "read and written"
    warm = "" if point.defeats_l2 else ", found in the L2"
    return f"{point.dtype}, {size(point.num_bytes)} {moved}{warm}"


def _row(point: Point, row: Row, low: int, high: int) -> str:
    assert row.median_us is not None
    at = (math.log10(row.median_us) - low) / (high - low)
    name = KERNELS.get(row.kernel, row.kernel)
    return (
        f'<div class="row"><b>{escape(name)} <small>{_note(point, row)}</small></b>'
        f'<span class="track"><i style="width: {at:.1%}"></i></span>'
        f"<span>{row.median_us:,.1f}</span><span>{point.tb_per_s(row) or 0:.2f}</span></div>"
    )


def _note(point: Point, row: Row) -> str:
    share = point.share(row)
    of_limit = share is not None and row.kernel != LIMIT[point.kind]
    spread = f"spread {row.spread:.1%}"
    return f"{share:.0%} of the limit, {spread}" if of_limit else spread


def _axis(low: int, high: int) -> str:
    marks = "".join(f"<span>{10**decade:,}</span>" for decade in range(low, high + 1))
    return (
        f'<div class="row axis"><b></b><span class="track">{marks}</span><span></span></div>'
        '<div class="row axis"><b></b><span class="track unit">microseconds, log scale</span></div>'
    )


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around the values, at least one apart."""
    low = math.floor(math.log10(min(values)))
    return low, max(low + 1, math.ceil(math.log10(max(values))))
