"""The container a log travels in: named NumPy columns behind a JSON header.

Layout, little endian: 8 magic bytes, u32 header length, the JSON header padded with spaces so that
the data starts at a multiple of 8, then each column padded to 8 bytes. The browser maps the same
bytes onto typed arrays without copying (pages/player/js/decode.js).
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

MAGIC = b"PACOLS01"
DTYPES = {"u8": "<u1", "i32": "<i4", "i64": "<i8", "f32": "<f4", "f64": "<f8"}
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}

Column = np.ndarray[Any, np.dtype[Any]]


def pack(header: Mapping[str, Any], columns: Mapping[str, Column]) -> bytes:
    """Header and one-dimensional columns as bytes; `header["columns"]` is written here."""
    index, parts, offset = [], [], 0
    for name, column in columns.items():
        data = np.ascontiguousarray(column).tobytes()
        index.append([name, NAMES[column.dtype], len(column), offset])
        parts.append(data + b"\0" * (-len(data) % 8))
        offset += len(parts[-1])
    text = json.dumps({**header, "columns": index}, separators=(",", ":")).encode()
    text += b" " * (-(len(MAGIC) + 4 + len(text)) % 8)
    return b"".join([MAGIC, len(text).to_bytes(4, "little"), text, *parts])


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, Column]]:
    """Header and columns of `pack`; the columns are read-only views of `data`.

    Raises ValueError when `data` is not such a container or is cut short.
    """
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("not a log: the file does not start with PACOLS01")
    start = len(MAGIC) + 4
    end = start + int.from_bytes(data[len(MAGIC) : start], "little")
    header = json.loads(data[start:end])
    columns = {}
    for name, dtype, length, offset in header["columns"]:
        columns[name] = np.frombuffer(data, DTYPES[dtype], length, end + offset)
    return header, columns
