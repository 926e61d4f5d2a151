"""A small store shared by all sessions: what was asked for last stays, the oldest goes."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """At most `size` values by key; what is read or written counts as used."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[bytes, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: bytes) -> Value | None:
        """The value of a key, or None."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: bytes, value: Value) -> None:
        """Keep a value."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)
