"""Mooncake's trace format: one JSON object a line.

`timestamp` (ms), `input_length`, `output_length` (tokens), and `hash_ids`: prefix-chained ids of
the prompt's blocks, 512 tokens each in Mooncake's own traces, the last block possibly partial
(kvcache-ai/Mooncake, FAST25-release/traces).
"""

import gzip
import io
import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, BinaryIO

from sim.prompt import HashedPrompt
from sim.scenario import RequestSpec

GZIP_MAGIC = b"\x1f\x8b"
MAX_LINE_BYTES = 16 * 2**20
HASH_BLOCK_SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


class TraceError(ValueError):
    """A trace that cannot be read: one sentence, with the line that is wrong."""


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One request of a trace; `line` is its place in the file, from 1."""

    line: int
    timestamp_ms: float
    input_length: int
    output_length: int
    hash_ids: tuple[int, ...]


def read_mooncake(file: bytes | BinaryIO, limit: int) -> list[TraceRow]:
    """The first `limit` requests of a file, plain or gzip'd; the rest is not read.

    Raises TraceError naming the line when one is malformed, and when there is no request at all.
    """
    rows: list[TraceRow] = []
    for number, text in _lines(file):
        if len(rows) == limit:
            break
        rows.append(_row(number, text))
    if not rows:
        raise TraceError("the file has no request: one JSON object a line is needed.")
    return rows


def hash_block_size_of(rows: Sequence[TraceRow]) -> int:
    """Tokens a block id stands for: the largest power of two that fits every row.

    Raises TraceError naming the first row that none fits.
    """
    sizes = list(HASH_BLOCK_SIZES)
    for row in rows:
        sizes = [s for s in sizes if -(-row.input_length // s) == len(row.hash_ids)]
        if not sizes:
            raise TraceError(
                f"line {row.line}: {len(row.hash_ids)} hash_ids for {row.input_length} tokens "
                "fit no block size that suits the lines before."
            )
    return sizes[-1]


def to_requests(rows: Sequence[TraceRow], ms_per_step: float) -> tuple[RequestSpec, ...]:
    """Requests r0, r1, … that arrive `timestamp / ms_per_step` engine steps after the first row.

    A trace has no engine steps: their length is the caller's assumption.
    """
    size = hash_block_size_of(rows)
    start = min(row.timestamp_ms for row in rows)
    return tuple(
        RequestSpec(
            id=f"r{index}",
            arrival_step=int((row.timestamp_ms - start) / ms_per_step),
            prompt=HashedPrompt(row.hash_ids, size, row.input_length),
            max_tokens=row.output_length,
        )
        for index, row in enumerate(rows)
    )


def first_line(file: bytes) -> bytes:
    """The first line of a file, plain or gzip'd, that is not blank; nothing when there is none."""
    return next((text for _, text in _lines(file)), b"")


def _lines(file: bytes | BinaryIO) -> Iterator[tuple[int, bytes]]:
    stream: BinaryIO = io.BytesIO(file) if isinstance(file, bytes) else file
    head = stream.read(2)
    stream.seek(0)
    number = 0
    try:
        with gzip.open(stream) if head == GZIP_MAGIC else nullcontext(stream) as source:
            while text := source.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(text) > MAX_LINE_BYTES:
                    raise TraceError(f"line {number}: longer than {MAX_LINE_BYTES // 2**20} MiB.")
                if text.strip():
                    yield number, text
    except (OSError, EOFError, zlib.error) as error:
        raise TraceError(f"after line {number}: the gzip data is damaged ({error}).") from error


def json_object(line: int, text: bytes | str) -> dict[str, Any]:
    """The JSON object on a line of a trace. Raises TraceError when it is something else."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TraceError(f"line {line}: not JSON ({error}).") from error
    if not isinstance(data, dict):
        raise TraceError(f"line {line}: a JSON object is needed, this is a {type(data).__name__}.")
    return data


def _row(line: int, text: bytes) -> TraceRow:
    data = json_object(line, text)
    for name in ("timestamp", "input_length", "output_length", "hash_ids"):
        if name not in data:
            raise TraceError(f"line {line}: {name} is missing.")
    return TraceRow(
        line,
        _timestamp(line, data["timestamp"]),
        _length(line, "input_length", data["input_length"]),
        _length(line, "output_length", data["output_length"]),
        _ids(line, data["hash_ids"]),
    )


def _timestamp(line: int, value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value < 1e15:
        raise TraceError(f"line {line}: timestamp is {value!r}; milliseconds from 0 would do.")
    return float(value)


def _length(line: int, name: str, value: Any) -> int:
    if type(value) is not int or value < 1:
        raise TraceError(f"line {line}: {name} is {value!r}; a whole number from 1 would do.")
    return int(value)


def _ids(line: int, value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(v) is int for v in value):
        raise TraceError(f"line {line}: hash_ids is not a list of whole numbers.")
    return tuple(value)
