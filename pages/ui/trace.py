"""An uploaded trace: the file as it came, and how it is read as requests."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

from pages.ui.limits import MAX_REQUESTS, within
from sim.checked import ScenarioError
from sim.scenario import RequestSpec, Scenario
from sim.traces.mooncake import TraceError, read_mooncake, to_requests

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


@dataclass(frozen=True, slots=True)
class Upload:
    """A file a visitor brought; `id` is Streamlit's, new for each upload."""

    id: str
    name: str
    data: bytes

    @property
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
    """The requests of a trace. Raises ScenarioError, in one sentence, naming the line."""
    try:
        return to_requests(read_mooncake(upload.data, choice.first), choice.ms_per_step)
    except TraceError as error:
        raise ScenarioError("requests", f"{upload.name}, {error}") from error
