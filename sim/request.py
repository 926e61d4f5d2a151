"""A request inside the engine: what the scheduler and the cache manager change as it runs."""

from array import array
from dataclasses import dataclass, field
from enum import Enum

from sim.prompt import Content
from sim.scenario import RequestSpec


class RequestStatus(Enum):
    """Where a request is (vllm/v1/request.py `RequestStatus`)."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    PREEMPTED = "PREEMPTED"
    FINISHED = "FINISHED"


@dataclass(slots=True, eq=False)
class Request:
    """One request's mutable state, owned by the scheduler; the block table by its KVCacheManager.

    `index` is its place in the scenario, and its number in the log; `order` its place in the order
    of admission. `prefix_ids[i]` names the whole prefix up to the end of logical block i; it grows
    when a block is first asked for.

    While a request decodes, one token in each step, the two token counts stand still: `lead` is
    then its computed tokens less the number of steps so far, `phase` what is left of that modulo
    the block size (sim/decoders.py).
    """

    index: int
    spec: RequestSpec
    priority_key: tuple[int, float, str]
    last_output: int  # outputs after which it stops, or stands at max_model_len
    status: RequestStatus = RequestStatus.WAITING
    order: int = -1
    num_prompt_tokens: int = field(init=False)
    num_tokens: int = field(init=False)  # that exist: the prompt and what was sampled so far
    num_computed_tokens: int = 0
    num_cached_blocks: int = 0
    lead: int | None = None
    phase: int = -1
    block_table: list[int] = field(default_factory=list)
    prefix_ids: "array[int]" = field(default_factory=lambda: array("i"))

    def __post_init__(self) -> None:
        self.num_prompt_tokens = self.num_tokens = self.spec.prompt.num_tokens

    @property
    def num_output_tokens(self) -> int:
        """Tokens that were sampled so far."""
        return self.num_tokens - self.num_prompt_tokens

    @property
    def num_scripted_tokens(self) -> int:
        """Tokens whose content the scenario gives, from the first on."""
        return self.num_prompt_tokens + len(self.spec.output_token_ids or ())

    def content(self, start: int, stop: int) -> Content:
        """Scripted tokens [start, stop), equal to another request's exactly when the tokens are."""
        prompt = self.num_prompt_tokens
        if stop <= prompt:
            return self.spec.prompt.content(start, stop)
        head = self.spec.prompt.content(start, prompt) if start < prompt else ()
        outputs = self.spec.output_token_ids or ()
        return head + outputs[max(start - prompt, 0) : stop - prompt]
