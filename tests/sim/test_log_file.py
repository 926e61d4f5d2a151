"""A log's file holds every decision in words, comes back as the same log, or says why not."""

from contextlib import suppress
from dataclasses import replace
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.checked import ScenarioError
from sim.event_log import EventLog
from sim.log_file import from_parquet, to_parquet
from sim.prompt import TokenPrompt
from sim.scenario import RequestSpec, Scenario
from sim.simulate import simulate
from tests.sim.strategies import scenarios

LESSON = Scenario(5, 4, (RequestSpec("A", 0, TokenPrompt((1, 2, 3, 4, 5)), 3),))


def rows(data):
    return pq.read_table(BytesIO(data)).replace_schema_metadata(None)


def written(table, metadata):
    file = BytesIO()
    with pq.ParquetWriter(file, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(metadata)
    return file.getvalue()


def edited(data, row, **cells):
    """The same file with other values in a row."""
    table = rows(data)
    lines = table.to_pylist()
    lines[row] |= cells
    return written(pa.Table.from_pylist(lines, table.schema), metadata(data))


def metadata(data):
    return pq.ParquetFile(BytesIO(data)).metadata.metadata


@pytest.fixture
def log(request_spec, scenario):
    """Blocks of 4. B needs one block and ends in step 1; A needs two, and fills the first.

    Step 0: both arrive, take block 1 and block 2, and compute their prompts, 4 and 2 tokens. Step
    1: B samples its last token and gives block 2 back; A takes another block for token 4. In step
    2 A samples its last token. The engine then runs one step more, with nothing to do.
    """
    return simulate(
        scenario(request_spec("A", [1, 2, 3, 4], 3), request_spec("B", [7, 7], 2)),
    )


def test_each_decision_is_a_row_in_words(log):
    found = [
        (row["step"], row["phase"], row["kind"], row["request"], row["blocks"], row["prefix_ids"])
        for row in rows(to_parquet(log)).to_pylist()
        if row["kind"] not in ("LOOKUP", "SCHEDULE", "ADMIT")
    ]

    assert found == [
        (0, "arrive", "ARRIVE", "A", [], []),
        (0, "arrive", "ARRIVE", "B", [], []),
        (0, "schedule", "TAKE", "A", [1], []),
        (0, "schedule", "CACHE", "A", [1], [1]),
        (0, "schedule", "TAKE", "B", [2], []),
        (1, "schedule", "TAKE", "A", [3], []),
        (1, "update", "RELEASE", "B", [2], []),
        (1, "update", "FINISH", "B", [], []),
        (2, "update", "RELEASE", "A", [3, 1], []),
        (2, "update", "FINISH", "A", [], []),
        (3, None, None, None, [], []),
    ]


@settings(max_examples=40)
@given(scenarios())
def test_any_log_comes_back_byte_for_byte(scenario):
    log = simulate(scenario)
    back = from_parquet(to_parquet(log))

    assert back.to_bytes() == log.to_bytes()


@settings(max_examples=40)
@given(scenarios(), st.data())
def test_any_other_number_is_another_file(scenario, data):
    log = simulate(scenario)
    name = data.draw(st.sampled_from([n for n in log.columns if not n.endswith("_end")]))
    column = log.columns[name].copy()
    at = data.draw(st.integers(0, max(0, len(column) - 1)))
    names, first = {"kind": (14, 0), "request": (len(scenario.requests) + 1, -1)}.get(name, (99, 0))
    column[at : at + 1] = (column[at : at + 1] + 1 - first) % names + first
    other = EventLog(scenario, {**log.columns, name: column}, log.stalled)

    assert (rows(to_parquet(other)) == rows(to_parquet(log))) == (len(column) == 0)


def test_an_edited_row_is_named(log):
    data = to_parquet(log)
    taken = next(i for i, row in enumerate(rows(data).to_pylist()) if row["kind"] == "TAKE")

    with pytest.raises(ScenarioError) as error:
        from_parquet(edited(data, taken, blocks=[5]))
    assert str(error.value) == (
        f"row {taken} of this log, in step 0, has blocks [5], and its scenario makes [1]: "
        "the file was changed, or another version of this simulator wrote it."
    )


def test_the_log_of_another_scenario_is_refused(log):
    other = simulate(replace(log.scenario, num_gpu_blocks=9, enable_prefix_caching=False))
    data = written(rows(to_parquet(log)), metadata(to_parquet(other)))

    with pytest.raises(ScenarioError, match="rows, and its scenario makes"):
        from_parquet(data)


def test_foreign_old_cut_and_damaged_files_are_refused_in_a_sentence(log):
    data = to_parquet(log)
    kept = metadata(data)
    for file, sentence in (
        (b"", "not a Parquet file"),
        (b"PACOLS01", "not a Parquet file"),
        (data[:-9], "cut short"),
        (data[:99] + data[120:], "damaged"),
        (written(pa.table({"x": [1]}), {}), "not a log: its columns are x"),
        (written(rows(data), {}), "not a log"),
        (written(rows(data), {**kept, b"format": b"log/1"}), "has the format 'log/1'"),
        (written(rows(data), {**kept, b"scenario": b"{"}), "is not JSON"),
        (written(rows(data), {**kept, b"scenario": b"{}"}), "num_gpu_blocks is missing"),
        (written(rows(data).slice(1), kept), "has 16 rows, and its scenario makes 17"),
    ):
        with pytest.raises(ScenarioError, match=sentence):
            from_parquet(file)


@settings(max_examples=40)
@given(st.data())
def test_a_flipped_bit_is_refused_or_changes_nothing(data):
    """In the middle of a file may lie a statistic that nobody reads."""
    file = bytearray(to_parquet(simulate(LESSON)))
    file[data.draw(st.integers(0, len(file) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with suppress(ScenarioError):
        back = from_parquet(bytes(file))
        assert rows(to_parquet(back)) == rows(bytes(file))
