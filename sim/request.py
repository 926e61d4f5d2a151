"""A request inside the engine: what the scheduler and the cache manager change as it runs."""

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

    `index` is its place in the scenario, and its number in the log. `prefix_ids[i]` names the
    whole prefix up to the end of logical block i; it grows when a block is first asked for.
    """

    index: int
    spec: RequestSpec
    priority_key: tuple[int, float, str]
    status: RequestStatus = RequestStatus.WAITING
    num_computed_tokens: int = 0
    num_output_tokens: int = 0
    num_preemptions: int = 0
    num_cached_blocks: int = 0
    block_table: list[int] = field(default_factory=list)
    prefix_ids: list[int] = field(default_factory=list)

    @property
    def num_prompt_tokens(self) -> int:
        """Tokens of the prompt."""
        return self.spec.prompt.num_tokens

    @property
    def num_tokens(self) -> int:
        """Tokens that exist: the prompt and what was sampled so far."""
        return self.num_prompt_tokens + self.num_output_tokens

    def content(self, start: int, stop: int) -> Content:
        """Tokens [start, stop), equal to another request's exactly when the tokens are."""
        prompt = self.num_prompt_tokens
        if stop <= prompt:
            return self.spec.prompt.content(start, stop)
        head = self.spec.prompt.content(start, prompt) if start < prompt else ()
        tail = self._output(max(start - prompt, 0), stop - prompt)
        return head + tail

    def _output(self, start: int, stop: int) -> Content:
        tokens = self.spec.output_token_ids
        return tokens[start:stop] if tokens is not None else ("output", self.index, start, stop)
