"""How many tokens a step may compute, and how many of them a request may have.

vllm/v1/core/sched/scheduler.py `Scheduler.schedule` (`token_budget`, `num_new_tokens`).
"""

from sim.request import Request
from sim.scenario import Scenario


class TokenBudget:
    """The tokens that are `left` of a step's `max_num_batched_tokens`."""

    def __init__(self, scenario: Scenario) -> None:
        self.left = 0
        self._scenario = scenario
        threshold = scenario.long_prefill_token_threshold
        self._threshold = threshold if threshold > 0 else scenario.max_model_len

    def open(self, num_decoders: int) -> None:
        """A step begins: decoders have their token off it at once."""
        self.left = self._scenario.max_num_batched_tokens - num_decoders

    def for_running(self, request: Request) -> int:
        """Tokens that a running request may compute in this step."""
        if request.lead is not None:
            return 1
        computed = request.num_computed_tokens
        room = self._scenario.max_model_len - 1 - computed
        return min(request.num_tokens - computed, self._threshold, room, self.left)

    def for_entering(self, request: Request, hit_tokens: int) -> int:
        """Tokens that a request may compute when it is admitted; 0 if it would have to be cut."""
        tokens = min(request.num_tokens - hit_tokens, self._threshold)
        if tokens <= self.left:
            return tokens
        return self.left if self._scenario.enable_chunked_prefill else 0
