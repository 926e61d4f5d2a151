"""A stretch of a log's rows, for NumPy: which rows are of which kind, where their payloads lie."""

from collections.abc import Mapping

import numpy as np

from sim.columns import Column
from sim.events import EventKind


class LogRows:
    """Rows begin .. end - 1 of a log; each column has an entry a row.

    The payload of row i is `payload[start[i] : stop[i]]`; `payload` is the whole log's, so its
    positions mean the same in every stretch.
    """

    def __init__(self, columns: Mapping[str, Column], begin: int, end: int) -> None:
        self.kind, self.request = columns["kind"][begin:end], columns["request"][begin:end]
        self.a, self.b = columns["a"][begin:end], columns["b"][begin:end]
        self.payload = columns["payload"]
        ends = columns["payload_end"]
        self.stop = ends[begin:end]
        first = ends[begin - 1 : begin] if begin else np.zeros(1, ends.dtype)
        self.start = np.concatenate([first, self.stop])[: len(self.stop)]

    def of(self, *kinds: EventKind) -> Column:
        """Indices of the rows of some kinds, in order."""
        wanted = np.zeros(len(self.kind), np.bool_)
        for kind in kinds:
            wanted |= self.kind == kind
        return np.flatnonzero(wanted)

    def blocks(self, position: Column) -> Column:
        """The payload at positions as int64, for NumPy is slow to convert an index each time."""
        return self.payload[position].astype(np.intp)


def spans(starts: Column, lengths: Column) -> Column:
    """The positions start .. start + length of every span, one after the other, int64."""
    before = np.cumsum(lengths, dtype=np.int64) - lengths
    positions = np.repeat(starts - before, lengths)
    positions += np.arange(len(positions))
    return positions
