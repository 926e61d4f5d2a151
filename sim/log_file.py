"""A log as a Parquet file: a row a decision, in words, for any tool that reads tables, and back.

Columns: `step`, `engine_step`, `phase` (arrive, schedule or update), `kind` and `request` by name,
`a`, `b`, `blocks`, and of CACHE rows `prefix_ids`; `EventKind` says what they mean. A step in which
nothing was decided has one row without a phase. The file's metadata hold its `format`, and the
whole `scenario` as JSON.

A log is a function of its scenario: a file is read by simulating its scenario once more, and it is
refused unless it says the very same.
"""

import json
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from sim.checked import ScenarioError
from sim.columns import Column
from sim.event_log import FORMAT, EventLog
from sim.events import EventKind
from sim.scenario import Scenario
from sim.simulate import simulate

PHASES = ("arrive", "schedule", "update")
KINDS = [kind.name for kind in EventKind]
MAGIC = b"PAR1"
SHOWN = 48  # characters of a wrong value
CHANGED = "the file was changed, or another version of this simulator wrote it."
NONE = -1  # the number of a name that is not there
NUMBERS = pa.list_(pa.field("element", pa.int32()))
SCHEMA = pa.schema(
    {
        "step": pa.int32(),
        "engine_step": pa.int32(),
        "phase": pa.string(),
        "kind": pa.string(),
        "request": pa.string(),
        "a": pa.int32(),
        "b": pa.int32(),
        "blocks": NUMBERS,
        "prefix_ids": NUMBERS,
    }
)
MAX_UNFOLDED = 1_000_000_000  # bytes: a few packed kilobytes can unfold to any number


def to_parquet(log: EventLog) -> bytes:
    """The log as a file."""
    scenario = json.dumps(log.scenario.to_json(), separators=(",", ":"))
    file = BytesIO()
    with pq.ParquetWriter(file, SCHEMA, compression="zstd", store_schema=False) as writer:
        writer.write_table(_table(log))
        writer.add_key_value_metadata({"format": FORMAT, "scenario": scenario})
    return file.getvalue()


def from_parquet(data: bytes, run: Callable[[Scenario], EventLog] = simulate) -> EventLog:
    """The log of `to_parquet`, as `run` simulates its scenario.

    Raises ScenarioError, in one sentence, when the file is something else, or says something else.
    """
    with _readable(data):
        file = pq.ParquetFile(BytesIO(data))
        scenario = _scenario(file)
    log = run(scenario)
    expected = _table(log)
    with _readable(data):
        found = _rows(file, len(expected))
    if not found.equals(expected):
        raise _refused(_difference(found, expected))
    return log


@contextmanager
def _readable(data: bytes) -> Iterator[None]:
    """Says in one sentence why a file cannot be read; pyarrow has many ways to."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, OSError):
        if data[:4] != MAGIC:
            raise _refused("this is not a Parquet file: it does not start with PAR1.") from None
        how = "damaged" if data[-4:] == MAGIC else "cut short"
        raise _refused(f"this Parquet file is {how}: a fresh copy would do.") from None


def _scenario(file: pq.ParquetFile) -> Scenario:
    metadata = file.metadata.metadata or {}
    if b"scenario" not in metadata or not file.schema_arrow.equals(SCHEMA):
        names = _short(", ".join(file.schema_arrow.names))
        raise _refused(f"this Parquet file is not a log: its columns are {names}.")
    written = metadata.get(b"format", b"").decode(errors="replace")
    if written != FORMAT:
        raise _refused(f"this log has the format {written!r}; {FORMAT!r} would do.")
    try:
        data = json.loads(metadata[b"scenario"])
    except (ValueError, RecursionError):
        raise _refused("the scenario in this log is not JSON: the file was changed.") from None
    return Scenario.from_json(data)


def _rows(file: pq.ParquetFile, expected: int) -> pa.Table:
    groups = range(file.metadata.num_row_groups)
    unfolded = sum(file.metadata.row_group(i).total_byte_size for i in groups)
    if unfolded > MAX_UNFOLDED:
        raise _refused(f"this log unfolds to {unfolded:,} bytes; {MAX_UNFOLDED:,} would do.")
    if file.metadata.num_rows != expected:
        raise _refused(
            f"this log has {file.metadata.num_rows:,} rows, and its scenario makes {expected:,}: "
            f"{CHANGED}"
        )
    table = file.read()
    table.validate(full=True)
    return table


def _difference(found: pa.Table, expected: pa.Table) -> str:
    """The first row that differs, in words."""
    first = bisect_left(
        range(len(expected)),
        True,
        key=lambda row: not found.slice(0, row + 1).equals(expected.slice(0, row + 1)),
    )
    theirs, ours = (table.slice(first, 1).to_pylist()[0] for table in (found, expected))
    name = next(name for name in ours if theirs[name] != ours[name])
    return (
        f"row {first:,} of this log, in step {ours['step']:,}, has {name} {_short(theirs[name])}, "
        f"and its scenario makes {_short(ours[name])}: {CHANGED}"
    )


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _table(log: EventLog) -> pa.Table:
    columns = log.columns
    ends = np.stack([columns[f"{phase}_end"] for phase in PHASES], axis=1).ravel()
    step, phase = np.divmod(np.searchsorted(ends, np.arange(len(columns["kind"])), "right"), 3)
    last = columns["update_end"]
    quiet = np.flatnonzero(np.diff(last, prepend=np.int32(0)) == 0)

    def with_quiet(column: Column, of_quiet: Any = NONE) -> Column:
        return np.insert(column.astype(np.int32), last[quiet], of_quiet)

    step = with_quiet(step, quiet)
    kind = with_quiet(columns["kind"])
    ids = [spec.id for spec in log.scenario.requests]
    lengths = with_quiet(np.diff(columns["payload_end"], prepend=np.int32(0)), 0)
    blocks, prefix_ids = _split(columns["payload"], lengths, kind == EventKind.CACHE)
    return pa.table(
        [
            step,
            columns["engine_step"][step],
            _named(with_quiet(phase), PHASES),
            _named(kind, KINDS),
            _named(with_quiet(columns["request"]), ids),
            with_quiet(columns["a"], 0),
            with_quiet(columns["b"], 0),
            blocks,
            prefix_ids,
        ],
        SCHEMA,
    )


def _named(numbers: Column, names: Any) -> pa.Array:
    """Each number as its name; none as null."""
    indices = pa.array(numbers, pa.int32(), mask=numbers == NONE)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string())).cast(pa.string())


def _split(payload: Column, lengths: Column, halved: Column) -> tuple[pa.Array, pa.Array]:
    """The payload as block ids, and of the rows `halved` the second half as prefix ids."""
    blocks = np.where(halved, lengths // 2, lengths)
    starts = np.cumsum(lengths) - lengths
    place = np.arange(len(payload)) - np.repeat(starts, lengths)
    is_block = place < np.repeat(blocks, lengths)
    return _lists(payload[is_block], blocks), _lists(payload[~is_block], lengths - blocks)


def _lists(values: Column, lengths: Column) -> pa.Array:
    ends = np.append(0, np.cumsum(lengths)).astype(np.int32)
    return pa.ListArray.from_arrays(ends, pa.array(values, pa.int32()), type=NUMBERS)


def _refused(sentence: str) -> ScenarioError:
    return ScenarioError("log", sentence)
