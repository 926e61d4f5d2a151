"""Requests as a table of sizes that a visitor edits, and back.

What the tokens say does not matter here, only which are the same: the first `shared` tokens of a
prompt are a text that all requests share, the rest is a request's own.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from sim.checked import ScenarioError
from sim.prompt import HashedPrompt
from sim.scenario import RequestSpec

COMMON = -1  # the hash id of the shared text; a request's own ids follow below
MAX_TOKENS = 32_768  # of a prompt or an output typed here
MAX_STEP = 1_000_000
MAX_REQUESTS = 200
MAX_ID = 24  # characters

COLUMNS = {
    "id": st.column_config.TextColumn(max_chars=MAX_ID),
    "prompt": st.column_config.NumberColumn(min_value=1, max_value=MAX_TOKENS, step=1),
    "shared": st.column_config.NumberColumn(min_value=0, max_value=MAX_TOKENS, step=1, default=0),
    "output": st.column_config.NumberColumn(min_value=1, max_value=MAX_TOKENS, step=1),
    "arrives": st.column_config.NumberColumn(min_value=0, max_value=MAX_STEP, step=1, default=0),
}


class Row(NamedTuple):
    """One request as typed; `shared` counts the leading tokens that are the shared text."""

    id: str
    prompt: int
    shared: int
    output: int
    arrives: int


def sized_request(id: str, prompt: int, shared: int, output: int, arrives: int) -> RequestSpec:
    """The request of a row. Its own tokens are named after its id, so nobody else has them."""
    size = shared or prompt
    own = MAX_TOKENS * (1 + int.from_bytes(id.encode()))
    ids = [-own - piece for piece in range(-(-prompt // size))]
    if shared:
        ids[0] = COMMON
    return RequestSpec(id, arrives, HashedPrompt(tuple(ids), size, prompt), output)


def row_of(spec: RequestSpec) -> Row:
    """A request as a row; a prompt that was not typed here counts as its own."""
    prompt = spec.prompt
    shared = 0
    if isinstance(prompt, HashedPrompt) and prompt.hash_ids[0] == COMMON:
        shared = prompt.hash_block_size
    return Row(spec.id, prompt.num_tokens, shared, spec.max_tokens, spec.arrival_step)


def to_table(requests: Iterable[RequestSpec]) -> pd.DataFrame:
    """One row a request, in order."""
    return pd.DataFrame([row_of(spec) for spec in requests], columns=list(Row._fields))


def from_table(table: pd.DataFrame, known: Iterable[RequestSpec]) -> tuple[RequestSpec, ...]:
    """The requests of an edited table; a row that still reads as a known request is that request.

    Raises ScenarioError, in one sentence, at the first cell that will not do.
    """
    unchanged = {row_of(spec): spec for spec in known}
    rows = [_row(number, cells) for number, cells in enumerate(table.itertuples(index=False), 1)]
    if not 1 <= len(rows) <= MAX_REQUESTS:
        sentence = f"there are {len(rows)} requests; 1 to {MAX_REQUESTS} rows would do."
        raise ScenarioError("requests", sentence)
    return tuple(unchanged.get(row) or sized_request(*row) for row in rows)


def can_be_typed(requests: tuple[RequestSpec, ...]) -> bool:
    """Would a table of these requests do as it is? From a file they may be more, or longer."""
    try:
        rows = [_row(number, row_of(spec)) for number, spec in enumerate(requests[:MAX_REQUESTS])]
    except ScenarioError:
        return False
    return 1 <= len(requests) == len(rows)


def _row(number: int, cells: Iterable[Any]) -> Row:
    id, prompt, shared, output, arrives = cells
    name = "" if pd.isna(id) else str(id).strip()
    if not 1 <= len(name) <= MAX_ID:
        sentence = f"row {number} has an id of {len(name)} characters; 1 to {MAX_ID} would do."
        raise ScenarioError("requests", sentence)
    tokens = _whole(name, "prompt", prompt, 1, MAX_TOKENS)
    return Row(
        name,
        tokens,
        _whole(name, "shared", shared, 0, tokens),
        _whole(name, "output", output, 1, MAX_TOKENS),
        _whole(name, "arrives", arrives, 0, MAX_STEP),
    )


def _whole(name: str, column: str, value: Any, low: int, high: int) -> int:
    if pd.isna(value) or not low <= value <= high or value != int(value):
        shown = "empty" if pd.isna(value) else f"{value:g}"
        sentence = f"{name}: {column} is {shown}; {low:,} to {high:,} would do."
        raise ScenarioError("requests", sentence)
    return int(value)
