"""Where a run stands, as one line of marks: shape checked, queued, parity, timing."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from kernels.worker import State

Mark = Literal["done", "now", "later", "broken"]
AT: dict[State, int] = {"queued": 1, "starting": 1, "parity": 2, "timing": 3}


class Step(NamedTuple):
    """One mark and its words."""

    mark: Mark
    words: str


def steps(
    state: State | None, ahead: int, where: str, has_gpu: bool, valid: bool = True
) -> list[Step]:
    """The four steps of a run in this state; None is a run not asked for yet.

    `where` is what computes: "in the interpreter", "on the GPU". A failed or cancelled run has no
    line of its own: its sentence says why.
    """
    words = ["Shape checked" if valid else "Shape refused", "Queued", f"Parity {where}", "Timing"]
    if state == "queued":
        words[1] = f"Queued: {ahead} run{'s' * (ahead != 1)} ahead"
    elif state == "starting":
        words[1] = "Starting torch"
    if not has_gpu:
        words[3] = "Timing: no GPU on this host"
    marks: list[Mark] = ["done" if valid else "broken", "later", "later", "later"]
    if state == "done":
        marks[1:3], marks[3] = ["done", "done"], "done" if has_gpu else "later"
    elif state in AT:
        marks[1 : AT[state]] = ["done"] * (AT[state] - 1)
        marks[AT[state]] = "now"
    return [Step(*pair) for pair in zip(marks, words, strict=True)]


def line(steps: Sequence[Step]) -> str:
    """The steps as HTML; the classes are those of run_kernel.css."""
    items = "".join(_item(*step) for step in steps)
    return f'<div class="run-steps" role="list" aria-label="Steps of the run">{items}</div>'


def _item(mark: Mark, words: str) -> str:
    current = ' aria-current="step"' if mark == "now" else ""
    return f'<span role="listitem" class="{mark}"{current}><i></i>{words}</span>'
