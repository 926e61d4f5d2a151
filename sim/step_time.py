"""How long an engine step takes: a model, fitted to recorded runs. vLLM has no such rule."""

from dataclasses import dataclass, fields

from sim.checked import ScenarioError

MAX_MS = 60_000
MIN_TICK_MS = 0.01


@dataclass(frozen=True, slots=True)
class StepTime:
    """Milliseconds of a step: a fixed part, and a part for each token that it computes.

    The fixed part is mostly the reading of the weights. A decode's part stands for the KV cache
    that it reads as well, at the length that requests had in the run of the fit.

    Raises ScenarioError when a number is out of range.
    """

    fixed_ms: float
    prefill_token_ms: float
    decode_ms: float
    tick_ms: float = 1.0

    def __post_init__(self) -> None:
        for spec in fields(self):
            value, low = getattr(self, spec.name), MIN_TICK_MS if spec.name == "tick_ms" else 0
            if not low <= value <= MAX_MS:
                raise ScenarioError(
                    spec.name, f"{spec.name} is {value}; {low} to {MAX_MS:,} ms would do."
                )

    def ticks(self, num_prefill_tokens: int, num_decodes: int) -> int:
        """Whole ticks of a step that computes so many prompt or recomputed tokens, and decodes.

        At least 1; exactly 1 when there is nothing to compute, as the model does not run then.
        """
        if not num_prefill_tokens and not num_decodes:
            return 1
        prefill = self.prefill_token_ms * num_prefill_tokens
        ms = self.fixed_ms + prefill + self.decode_ms * num_decodes
        return max(1, round(ms / self.tick_ms))


# vLLM 0.19.0, bfloat16, one GPU: `fit_step_time` (sim/traces/vllm_run.py) of the time series
# bench/examples/RTX4090/Llama-3.1-8B of casys-kaist/LLMServingSim, 182 seconds.
RTX4090_LLAMA_3_1_8B = StepTime(fixed_ms=18.70, prefill_token_ms=0.0828, decode_ms=0.2122)
