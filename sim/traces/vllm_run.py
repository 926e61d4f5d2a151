"""A recorded vLLM run: what the engine did each second, and when each request was served.

Files are those of casys-kaist/LLMServingSim, bench/examples: a CSV with a line for each second, and
one JSON object a line for the requests.
"""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from sim.columns import Column
from sim.prompt import HashedPrompt
from sim.scenario import MAX_BLOCK_SIZE, RequestSpec
from sim.step_time import StepTime
from sim.traces.mooncake import GZIP_MAGIC, TraceError, json_object

ROUNDS = 100  # of reweighting; the step times of the four public runs settle within 50
SMALLEST_RESIDUAL = 1e-6


@dataclass(frozen=True, slots=True)
class Second:
    """One line of a time series; `t` is its end, in seconds since the start of the run.

    `prompt_throughput` counts a prompt whole, hits too, when its first output token comes, and
    nothing that is recomputed. Requests and `kv_cache_pct` (held blocks, 0 to 100; 0 throughout
    where it was not recorded) are as at `t`.
    """

    t: float
    prompt_throughput: float
    gen_throughput: float
    running: int
    waiting: int
    kv_cache_pct: float


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """One request: `arrival_time` in s since 1970, the others in s of the engine's own clock."""

    request_id: str
    input_toks: int
    output_toks: int
    arrival_time: float
    queued_ts: float
    scheduled_ts: float
    first_token_ts: float
    last_token_ts: float


Row = TypeVar("Row", Second, RequestTimes)


def read_time_series(data: bytes) -> list[Second]:
    """The seconds of a CSV file, plain or gzip'd, in the file's order.

    Raises TraceError naming the line when one is malformed, and when there is none.
    """
    lines = list(_lines(data))
    names = lines[0][1].split(",") if lines else []
    values = [(number, dict(zip(names, text.split(","), strict=False))) for number, text in lines]
    return _rows(Second, values[1:], "second")


def read_request_times(data: bytes) -> list[RequestTimes]:
    """The requests of a JSON lines file, plain or gzip'd, in the file's order.

    Raises TraceError naming the line when one is malformed, and when there is none.
    """
    return _rows(RequestTimes, [(n, json_object(n, text)) for n, text in _lines(data)], "request")


def served_requests(served: Sequence[RequestTimes], ms_per_step: float) -> tuple[RequestSpec, ...]:
    """Requests r0, r1, … that arrive as they did, in engine steps of an assumed length.

    What they said was not recorded: no two prompts have anything in common here.
    """
    start = min(request.arrival_time for request in served)
    return tuple(
        RequestSpec(
            id=f"r{index}",
            arrival_step=int(1000 * (request.arrival_time - start) / ms_per_step),
            prompt=_own_prompt(index, request.input_toks),
            max_tokens=request.output_toks,
        )
        for index, request in enumerate(served)
    )


def _own_prompt(index: int, tokens: int) -> HashedPrompt:
    size = min(max(tokens, 1), MAX_BLOCK_SIZE)
    return HashedPrompt(
        tuple(index << 32 | piece for piece in range(-(-tokens // size))), size, tokens
    )


def fit_step_time(series: Sequence[Second]) -> StepTime:
    """The step time with which the busy seconds of a run add up, each as

    1000 ms = steps * fixed_ms + prompt tokens * prefill_token_ms + generated tokens * decode_ms

    where steps = generated tokens / running requests (mean of both ends of the second). The sum of
    absolute differences is made smallest, not of squares: a second in which preempted requests were
    recomputed holds work that the series does not name, and must stand out instead of pulling. Such
    work still makes the fit some percent too long.

    Raises TraceError when the series cannot tell the three apart, ScenarioError when one of them
    comes out negative.
    """
    busy = [(start, end) for start, end in pairwise(series) if start.running and end.running]
    terms = np.array([_terms(start, end) for start, end in busy]).reshape(-1, 3)
    if np.linalg.matrix_rank(terms) < 3:
        raise TraceError(f"the {len(busy)} busy seconds of the series are too few or too alike.")
    fixed, prefill, decode = _least_absolute(terms, np.full(len(terms), 1000.0)).tolist()
    return StepTime(fixed, prefill, decode)


def _terms(start: Second, end: Second) -> tuple[float, float, float]:
    steps = end.gen_throughput / ((start.running + end.running) / 2)
    return steps, end.prompt_throughput, end.gen_throughput


def _least_absolute(terms: Column, target: Column) -> Column:
    """x with the smallest sum of |terms @ x - target|, by least squares reweighted each round."""
    weight = np.ones(len(target))
    for _ in range(ROUNDS):
        x, *_ = np.linalg.lstsq(terms * weight[:, None], target * weight)
        residual = np.abs(terms @ x - target)
        weight = 1 / np.sqrt(np.maximum(residual, SMALLEST_RESIDUAL))
    return x


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    try:
        text = (gzip.decompress(data) if data[:2] == GZIP_MAGIC else data).decode()
    except (OSError, EOFError, zlib.error) as error:
        raise TraceError(f"the gzip data is damaged ({error}).") from error
    except UnicodeDecodeError as error:
        raise TraceError(f"the file is not UTF-8 text ({error}).") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.strip()


def _rows(cls: type[Row], lines: Sequence[tuple[int, dict[str, Any]]], noun: str) -> list[Row]:
    if not lines:
        raise TraceError(f"the file has no {noun}.")
    return [_row(cls, number, values) for number, values in lines]


def _row(cls: type[Row], line: int, values: dict[str, Any]) -> Row:
    for spec in fields(cls):
        if spec.name not in values:
            raise TraceError(f"line {line}: {spec.name} is missing.")
    return cls(**{f.name: _value(line, f.name, f.type, values[f.name]) for f in fields(cls)})


def _value(line: int, name: str, kind: Any, value: Any) -> Any:
    if kind is str:
        return str(value)
    try:
        number = float("nan" if isinstance(value, bool) else value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    whole = kind is int
    if not 0 <= number < 1e15 or (whole and not number.is_integer()):
        wanted = "a whole number" if whole else "a number"
        raise TraceError(f"line {line}: {name} is {value!r}; {wanted} from 0 would do.")
    return int(number) if whole else number
