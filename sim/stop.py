"""When a request stops (vllm/v1/core/sched/utils.py `check_stop`, in its order)."""

from sim.events import FinishReason
from sim.scenario import RequestSpec, Scenario

NO_TOKEN = -1


def check_stop(
    scenario: Scenario, spec: RequestSpec, num_outputs: int
) -> tuple[FinishReason, int] | None:
    """Reason and stop token (-1: none) after `num_outputs` tokens, or None to go on.

    `min_tokens` comes before everything else, max_model_len included: vLLM lets such a request run
    into the end of its context and wait there.
    """
    if num_outputs < spec.min_tokens:
        return None
    token = spec.output_token_ids[num_outputs - 1] if spec.output_token_ids else NO_TOKEN
    if token != NO_TOKEN and token == scenario.eos_token_id and not spec.ignore_eos:
        return FinishReason.STOP, NO_TOKEN
    if token in spec.stop_token_ids:
        return FinishReason.STOP, token
    if num_outputs >= spec.max_tokens:
        return FinishReason.LENGTH, NO_TOKEN
    if spec.prompt.num_tokens + num_outputs >= scenario.max_model_len:
        return FinishReason.LENGTH, NO_TOKEN
    return None


def num_outputs(scenario: Scenario, spec: RequestSpec) -> int:
    """Tokens that a request emits if nobody aborts it; at most until max_model_len is full."""
    room = scenario.max_model_len - spec.prompt.num_tokens
    most = min(max(spec.max_tokens, spec.min_tokens), room)
    eos = None if spec.ignore_eos else scenario.eos_token_id
    if not spec.output_token_ids or (eos is None and not spec.stop_token_ids):
        return most
    stops = {*spec.stop_token_ids, eos}
    first = max(spec.min_tokens, 1)
    early = (k for k in range(first, most) if spec.output_token_ids[k - 1] in stops)
    return next(early, most)
