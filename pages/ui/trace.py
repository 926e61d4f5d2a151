"""An uploaded trace: the file as it came, and how it is read as requests."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Self

import streamlit as st

from pages.ui.limits import MAX_REQUESTS, within
from pages.ui.recent import Recent
from sim.checked import ScenarioError
from sim.scenario import RequestSpec, Scenario
from sim.traces.formats import read_trace as read
from sim.traces.mooncake import TraceError

KEPT = 8  # traces, as they were read
FIRST = (1, MAX_REQUESTS, "requests")
MS_PER_STEP = (1, 10_000, "milliseconds")

# The settings of a recorded vLLM run whose workload is public: Llama-3.1-8B on an RTX 4090
# (casys-kaist/LLMServingSim, bench/examples).
ENGINE = Scenario(
    name="Your trace",
    requests=(),
    num_gpu_blocks=2_588,
    block_size=16,
    max_num_seqs=256,
    max_num_batched_tokens=2_048,
    max_model_len=32_768,
)


@dataclass(frozen=True)
class Upload:
    """A file a visitor brought; `id` is Streamlit's, new for each upload."""

    id: str
    name: str
    data: bytes

    @cached_property
    def digest(self) -> str:
        """Enough of the file's SHA-256 to know it again."""
        return sha256(self.data).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class TraceChoice:
    """Which file, how many of its first requests, and how long an engine step is taken to be.

    An empty `file` is no file yet; `digest` is its Upload's.
    """

    file: str = ""
    digest: str = ""
    first: int = 300
    ms_per_step: int = 50

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The choice of a link. Raises ScenarioError when it is not one."""
        kinds = {"file": str, "digest": str, "first": int, "ms_per_step": int}
        if not isinstance(data, dict) or {k: type(v) for k, v in data.items()} != kinds:
            raise ScenarioError(
                "trace", "the trace in this link cannot be read; copy it once more."
            )
        return cls(
            data["file"],
            data["digest"],
            within("first", data["first"], *FIRST),
            within("ms_per_step", data["ms_per_step"], *MS_PER_STEP),
        )


NO_FILE = TraceChoice()


def read_trace(upload: Upload, choice: TraceChoice) -> tuple[RequestSpec, ...]:
    """The requests of a trace, read once. Raises ScenarioError, in one sentence, with the line."""
    key = upload.digest, choice.first, choice.ms_per_step
    requests = _recent().get(key)
    if requests is None:
        try:
            with st.spinner(f"Reading {upload.name}"):
                requests = read(upload.data, choice.first, choice.ms_per_step)
        except TraceError as error:
            raise ScenarioError("requests", f"{upload.name}, {error}") from error
        _recent().put(key, requests)
    return requests


@st.cache_resource(show_spinner=False)
def _recent() -> Recent[tuple[str, int, int], tuple[RequestSpec, ...]]:
    return Recent(KEPT)
