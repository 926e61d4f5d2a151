"""Which of the seven hues each running request has at a step: the player gives them out so too."""

import numpy as np

from sim.stays import Stays

HUES = 7


def hues_at(stays: Stays, step: int) -> dict[int, int]:
    """Hue by request. Those admitted first get one; nobody loses it while running."""
    rows = np.concatenate([stays.entry, stays.leave])
    requests = np.concatenate([stays.request, stays.request])
    steps = stays.steps_begun(rows)
    kept = np.flatnonzero(steps <= step)
    kept = kept[np.argsort(rows[kept])]
    running: dict[int, int | None] = {}
    now = 0
    for moved, request in zip(steps[kept].tolist(), requests[kept].tolist(), strict=True):
        if moved != now:
            _give(running)
            now = moved
        if request in running:
            del running[request]
        else:
            running[request] = None
    _give(running)
    return {request: hue for request, hue in running.items() if hue is not None}


def _give(running: dict[int, int | None]) -> None:
    free = sorted(set(range(HUES)) - {hue for hue in running.values() if hue is not None})
    without = [request for request, hue in running.items() if hue is None]
    running.update(zip(without, free, strict=False))
