"""The container a log travels in: named NumPy columns behind a JSON header.

Layout, little endian: 8 magic bytes, u32 header length, the JSON header padded with spaces so that
the data starts at a multiple of 8, then each column padded to 8 bytes. An int32 column is stored
as runs (sim/delta_runs.py) where that is smaller; its entry in the header then ends with the number
of heads and that of bytes. The browser reads the same bytes (pages/player/js/decode.js).
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from sim.delta_runs import read_runs, write_runs

MAGIC = b"PACOLS01"
DTYPES = {"u8": "<u1", "i32": "<i4", "i64": "<i8", "f32": "<f4", "f64": "<f8"}
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}
RUNS = "runs"  # int32, as sim/delta_runs.py writes them

Column = np.ndarray[Any, np.dtype[Any]]


def pack(header: Mapping[str, Any], columns: Mapping[str, Column]) -> bytes:
    """Header and one-dimensional columns as bytes; `header["columns"]` is written here."""
    index, parts, offset = [], [], 0
    for name, column in columns.items():
        dtype, data, *heads = _stored(column)
        sizes = [*heads, len(data)] if heads else []
        index.append([name, dtype, len(column), offset, *sizes])
        parts.append(data + b"\0" * (-len(data) % 8))
        offset += len(parts[-1])
    text = json.dumps({**header, "columns": index}, separators=(",", ":")).encode()
    text += b" " * (-(len(MAGIC) + 4 + len(text)) % 8)
    return b"".join([MAGIC, len(text).to_bytes(4, "little"), text, *parts])


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, Column]]:
    """Header and columns of `pack`; the columns are read-only, and views of `data` where they can.

    Raises ValueError when `data` is not such a container or is cut short.
    """
    header, end = _header(data)
    columns = {}
    for name, dtype, length, offset, *rest in header["columns"]:
        if dtype == RUNS:
            stored = np.frombuffer(data, np.uint8, offset=end + offset)
            columns[name] = read_runs(stored, num_heads=rest[0], length=length)
            columns[name].flags.writeable = False
        else:
            columns[name] = np.frombuffer(data, DTYPES[dtype], length, end + offset)
    return header, columns


def unpack_header(data: bytes) -> dict[str, Any]:
    """The header alone. Raises ValueError when `data` is not such a container."""
    return _header(data)[0]


def _stored(column: Column) -> tuple[str, bytes] | tuple[str, bytes, int]:
    """The name of the form that is smallest, its bytes, and for runs the number of heads."""
    if column.dtype == np.int32:
        data, num_heads = write_runs(column)
        if len(data) < column.nbytes:
            return RUNS, data, num_heads
    return NAMES[column.dtype], np.ascontiguousarray(column).tobytes()


def _header(data: bytes) -> tuple[dict[str, Any], int]:
    """The header, and where it ends."""
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("not a log: the file does not start with PACOLS01")
    start = len(MAGIC) + 4
    end = start + int.from_bytes(data[len(MAGIC) : start], "little")
    header: dict[str, Any] = json.loads(data[start:end])
    return header, end
