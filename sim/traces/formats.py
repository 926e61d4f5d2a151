"""A trace in one of the formats that are read here, as requests."""

import json

from sim.scenario import RequestSpec
from sim.traces.mooncake import first_line, read_mooncake, to_requests
from sim.traces.vllm_run import read_request_times, served_requests


def read_trace(data: bytes, limit: int, ms_per_step: float) -> tuple[RequestSpec, ...]:
    """The first `limit` requests: Mooncake's lines, or those that a recorded vLLM run served.

    Its first line says which. Raises TraceError, in one sentence, naming the line.
    """
    if _is_of_a_run(first_line(data)):
        return served_requests(read_request_times(data)[:limit], ms_per_step)
    return to_requests(read_mooncake(data, limit), ms_per_step)


def _is_of_a_run(line: bytes) -> bool:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) and "input_toks" in data
