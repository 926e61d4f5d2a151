"""A small store shared by all sessions: what was asked for last stays, the oldest goes."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Values by key, at most `size` of them; what is read or written counts as used.

    Together they weigh at most `most`, as `weigh` says; the newest stays, however much it weighs.
    """

    def __init__(
        self, size: int, most: float = float("inf"), weigh: Callable[[Value], float] | None = None
    ) -> None:
        self._size, self._most, self._weigh = size, most, weigh or (lambda value: 0)
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        """The value of a key, or None."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Keep a value."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > 1 and self._is_too_much():
                self._values.popitem(last=False)

    def _is_too_much(self) -> bool:
        weight = sum(map(self._weigh, self._values.values()))
        return len(self._values) > self._size or weight > self._most
