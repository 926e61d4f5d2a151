"""The unfinished requests of a frame."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from sim.frame import RequestFrame


class RequestFrames(Mapping[str, RequestFrame]):
    """RequestFrames by id; `make` makes the one at a place of `ids` when it is first asked for.

    Ten thousand may wait, and those who run hold a million blocks: nobody looks at them all.
    """

    def __init__(self, ids: Iterable[str], make: Callable[[int], RequestFrame]) -> None:
        self._places = {request_id: place for place, request_id in enumerate(ids)}
        self._make = cache(make)

    def __getitem__(self, request_id: str) -> RequestFrame:
        return self._make(self._places[request_id])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
