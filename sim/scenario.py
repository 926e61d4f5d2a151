"""What is simulated: the engine's settings and the requests, frozen and checked.

The JSON form is one object with vLLM's own option names; requests carry `prompt_token_ids`, or
`hash_ids`, `hash_block_size` and `prompt_tokens` when they come from a trace.
"""

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from sim.checked import ScenarioError, integers, objects, take, within
from sim.prompt import HashedPrompt, Prompt, TokenPrompt
from sim.step_time import StepTime

MAX_BLOCKS = 10_000_000
MAX_BLOCK_SIZE = 65_536
MAX_STEP = 2_000_000_000

Version = Literal["0.26.0", "before 0.26"]


@dataclass(frozen=True, slots=True)
class RequestSpec:
    """One request as a client sends it, and what the model will answer.

    `output_token_ids[k]` is the k-th token the model emits; without them outputs are new tokens
    that nobody else has, and the request runs to `max_tokens`.
    """

    id: str
    arrival_step: int
    prompt: Prompt
    max_tokens: int
    output_token_ids: tuple[int, ...] | None = None
    min_tokens: int = 0
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    priority: int = 0
    arrival_time: float | None = None
    cache_salt: str | None = None
    lora_name: str | None = None
    skip_reading_prefix_cache: bool = False


@dataclass(frozen=True, slots=True)
class Abort:
    """Request ids given up at a step, before `schedule()` or while the model runs ("mid")."""

    step: int
    phase: Literal["before", "mid"]
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reset:
    """A reset of the prefix cache before a step's `schedule()`."""

    step: int
    reset_running: bool


@dataclass(frozen=True, slots=True)
class Scenario:
    """Engine settings and requests; `num_gpu_blocks` includes the null block 0.

    Names and defaults are vLLM's (vllm/config/scheduler.py, vllm/config/cache.py). `version` is
    about the one rule that changed visibly: where freed blocks without a hash go, since 0.26.0 to
    the head of the free queue, before to its tail. Steps take one unit of `arrival_step` each, or
    what the model `step_time` says.
    Raises ScenarioError when a value is out of range.
    """

    num_gpu_blocks: int
    block_size: int
    requests: tuple[RequestSpec, ...]
    name: str = "scenario"
    enable_prefix_caching: bool = True
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 2048
    max_model_len: int = 4096
    enable_chunked_prefill: bool = True
    policy: Literal["fcfs", "priority"] = "fcfs"
    watermark: float = 0.0
    long_prefill_token_threshold: int = 0
    scheduler_reserve_full_isl: bool = True
    version: Version = "0.26.0"
    step_time: StepTime | None = None
    eos_token_id: int | None = None
    aborts: tuple[Abort, ...] = ()
    resets: tuple[Reset, ...] = ()

    def __post_init__(self) -> None:
        within("num_gpu_blocks", self.num_gpu_blocks, 1, MAX_BLOCKS, "blocks in the pool")
        within("block_size", self.block_size, 1, MAX_BLOCK_SIZE, "tokens a block")
        within("max_num_seqs", self.max_num_seqs, 1, 1_000_000, "requests at once")
        within("max_num_batched_tokens", self.max_num_batched_tokens, 1, 10**9, "tokens a step")
        within("max_model_len", self.max_model_len, 1, 10**9, "tokens")
        if self.policy not in ("fcfs", "priority"):
            raise ScenarioError("policy", f"policy is {self.policy!r}; fcfs or priority would do.")
        if self.version not in get_args(Version):
            versions = " or ".join(get_args(Version))
            raise ScenarioError("version", f"version is {self.version!r}; {versions} would do.")
        if not 0.0 <= self.watermark < 1.0:
            raise ScenarioError("watermark", f"watermark is {self.watermark}; 0 to 0.99 would do.")
        self._check_requests()

    def _check_requests(self) -> None:
        seen: set[str] = set()
        for spec in self.requests:
            if spec.id in seen:
                raise ScenarioError("requests", f"two requests are called {spec.id!r}; rename one.")
            seen.add(spec.id)
            _check_request(spec, self.max_model_len)
        for abort in self.aborts:
            if unknown := set(abort.ids) - seen:
                raise ScenarioError("aborts", f"there is no request {min(unknown)!r} to abort.")

    def priority_key(self, index: int) -> tuple[int, float, str]:
        """Order of a request under the priority policy, small first (vllm `Request.__lt__`)."""
        spec = self.requests[index]
        time = spec.arrival_time
        return (spec.priority, spec.arrival_step + index * 1e-6 if time is None else time, spec.id)

    @classmethod
    def from_json(cls, data: Any) -> "Scenario":
        """Scenario of a decoded JSON object; keys it does not know are left out.

        Raises ScenarioError when a key is missing, has another type, or is out of range.
        """
        if not isinstance(data, dict):
            raise ScenarioError("scenario", "a scenario is a JSON object; this is not one.")
        values = take(cls, data)
        if not isinstance(values["requests"], list | tuple):
            raise ScenarioError("requests", "requests is not a list.")
        values["requests"] = tuple(map(_request_from_json, values["requests"]))
        values["step_time"] = _step_time_from_json(data.get("step_time"))
        values["aborts"] = tuple(map(_abort_from_json, objects(data, "aborts")))
        values["resets"] = tuple(
            Reset(**take(Reset, {"reset_running": False, **row})) for row in objects(data, "resets")
        )
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """The same as a JSON object, defaults left out; `from_json` gives an equal scenario."""
        data = _put(self)
        data["requests"] = [_request_to_json(spec) for spec in self.requests]
        if self.step_time is not None:
            data["step_time"] = _put(self.step_time)
        for name in ("aborts", "resets"):
            if name in data:
                data[name] = [_put(entry) for entry in data[name]]
        return data


def _put(record: Any) -> dict[str, Any]:
    return {
        spec.name: getattr(record, spec.name)
        for spec in fields(record)
        if getattr(record, spec.name) != spec.default
    }


def _request_from_json(data: Any) -> RequestSpec:
    if not isinstance(data, dict):
        raise ScenarioError("requests", f"a request is a JSON object, not {data!r}.")
    return RequestSpec(prompt=_prompt_from_json(data), **take(RequestSpec, data))


def _abort_from_json(data: dict[str, Any]) -> Abort:
    values = take(Abort, {"phase": "before", **data})
    if values["phase"] not in ("before", "mid"):
        raise ScenarioError("aborts", f"phase is {values['phase']!r}; before or mid would do.")
    if not isinstance(values["ids"], list) or not all(type(i) is str for i in values["ids"]):
        raise ScenarioError("aborts", "the ids of an abort are not a list of names.")
    return Abort(values["step"], values["phase"], tuple(values["ids"]))


def _step_time_from_json(data: Any) -> StepTime | None:
    if data is not None and not isinstance(data, dict):
        raise ScenarioError("step_time", f"step_time is {data!r}; a JSON object would do.")
    return None if data is None else StepTime(**take(StepTime, data))


def _prompt_from_json(data: dict[str, Any]) -> Prompt:
    if "prompt_token_ids" in data:
        return TokenPrompt(integers("prompt_token_ids", data["prompt_token_ids"]))
    for name in ("hash_ids", "hash_block_size", "prompt_tokens"):
        if name not in data:
            raise ScenarioError("requests", f"request {data.get('id')!r} has no prompt_token_ids.")
    size, length = data["hash_block_size"], data["prompt_tokens"]
    ids = integers("hash_ids", data["hash_ids"])
    within("hash_block_size", size, 1, MAX_BLOCK_SIZE, "tokens a block id")
    if not isinstance(length, int) or -(-length // size) != len(ids):
        raise ScenarioError(
            "hash_ids", f"{len(ids)} block ids of {size} tokens cannot make {length} tokens."
        )
    return HashedPrompt(ids, size, length)


def _request_to_json(spec: RequestSpec) -> dict[str, Any]:
    data = _put(spec)
    prompt = data.pop("prompt")
    if isinstance(prompt, TokenPrompt):
        data["prompt_token_ids"] = list(prompt.token_ids)
    else:
        data["hash_ids"] = list(prompt.hash_ids)
        data["hash_block_size"] = prompt.hash_block_size
        data["prompt_tokens"] = prompt.num_tokens
    return {key: list(value) if isinstance(value, tuple) else value for key, value in data.items()}


def _check_request(spec: RequestSpec, max_model_len: int) -> None:
    if not spec.id:
        raise ScenarioError("requests", "a request has no id; any name would do.")
    tokens = spec.prompt.num_tokens
    if tokens < 1:
        raise ScenarioError("requests", f"{spec.id} has an empty prompt; 1 token would do.")
    if tokens >= max_model_len:
        raise ScenarioError(
            "requests",
            f"{spec.id} has {tokens} prompt tokens, and max_model_len is {max_model_len}: "
            f"at most {max_model_len - 1} would do, or a larger max_model_len.",
        )
    if spec.max_tokens < 1:
        raise ScenarioError("requests", f"{spec.id} asks for {spec.max_tokens} tokens; 1 would do.")
    outputs, room = spec.output_token_ids, max_model_len - tokens
    if outputs is not None and len(outputs) < min(max(spec.max_tokens, spec.min_tokens), room):
        raise ScenarioError(
            "requests",
            f"{spec.id} has {len(outputs)} output_token_ids for {spec.max_tokens} tokens: "
            "give as many as it may emit, or none.",
        )
    if not 0 <= spec.arrival_step <= MAX_STEP:
        raise ScenarioError(
            "requests",
            f"{spec.id} arrives at step {spec.arrival_step}; 0 to {MAX_STEP:,} would do.",
        )
