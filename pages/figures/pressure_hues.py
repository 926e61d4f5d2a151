"""Which of the seven hues each running request has at a step: the player gives them out so too."""

from bisect import insort

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
    given = _Hues()
    now = 0
    for moved, request in zip(steps[kept].tolist(), requests[kept].tolist(), strict=True):
        if moved != now:
            given.give()
            now = moved
        given.move(request)
    given.give()
    return given.hues


class _Hues:
    """Who runs with a hue, who runs without one in order of admission, and the free hues."""

    def __init__(self) -> None:
        self.hues: dict[int, int] = {}
        self._without: dict[int, None] = {}
        self._free = list(range(HUES))

    def move(self, request: int) -> None:
        """A request comes, or goes when it is here."""
        if request in self.hues:
            insort(self._free, self.hues.pop(request))
        elif request in self._without:
            del self._without[request]
        else:
            self._without[request] = None

    def give(self) -> None:
        """The lowest free hues to those who have waited longest."""
        while self._free and self._without:
            request = next(iter(self._without))
            del self._without[request]
            self.hues[request] = self._free.pop(0)
