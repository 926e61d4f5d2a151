"""Times of the kernel as rows of a table: a mark on a log scale, microseconds, TB/s."""

import math
from collections.abc import Sequence
from html import escape

from kernels.recorded import Row
from pages.figures.words import size

HEAD = (
    '<div class="row head"><b></b><span class="track"></span><span>µs</span><span>TB/s</span></div>'
)
EMPTY = (
    '<div class="kernel-times"><div class="row empty"><b>This project’s kernel</b>'
    '<span class="track"><em>runs on a GPU host only</em></span>'
    "<span class='none'>not recorded yet</span></div></div>"
)


def times(rows: Sequence[Row]) -> str:
    """HTML, one row a case; the classes are those of run_kernel.css. No timed row: an empty one."""
    timed = [row for row in rows if row.median_us is not None]
    if not timed:
        return EMPTY
    low, high = _decades([row.median_us or 0.0 for row in timed])
    body = "".join(_row(row, low, high) for row in timed)
    return f'<div class="kernel-times">{HEAD}{body}{_axis(low, high)}</div>'


def _row(row: Row, low: int, high: int) -> str:
    assert row.median_us is not None
    at = (math.log10(row.median_us) - low) / (high - low)
    warm = "" if row.defeats_l2 else ", read from L2"
    note = f"{row.dtype}, {size(row.kv_bytes)}, spread {row.spread:.1%}{warm}"
    return (
        f'<div class="row"><b>{escape(row.case)} <small>{note}</small></b>'
        f'<span class="track"><i style="width: {at:.1%}"></i></span>'
        f"<span>{row.median_us:,.1f}</span><span>{row.tb_per_s or 0:.2f}</span></div>"
    )


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
