"""How large a scenario may be here: what a page can draw, and a visitor can wait for.

A widget's own limits are kept by the browser only, and a link has none, so both are checked here.
"""

from sim.checked import ScenarioError
from sim.contiguous.reservation import stored_slots
from sim.scenario import Scenario

LIMITS = {
    "block_size": (1, 256, "tokens"),
    "num_gpu_blocks": (2, 100_000, "blocks"),
    "max_num_seqs": (1, 1_024, "requests"),
    "max_num_batched_tokens": (1, 1_000_000, "tokens"),
    "max_model_len": (2, 1_000_000, "tokens"),
}
MAX_REQUESTS = 20_000
MAX_OUTPUT = 5_000_000  # tokens of all requests together: a decode step makes one for each
MAX_BLOCKS = 12_000_000  # of all requests together: the log names each several times
MAX_ARRIVAL = 1_000_000  # steps: the baselines are counted in each
MAX_PLAYED = 60_000_000  # bytes of a packed log that a browser is sent


def check_limits(scenario: Scenario) -> None:
    """Raise ScenarioError, in one sentence, when a scenario is too large for a page."""
    for name, limit in LIMITS.items():
        within(name, getattr(scenario, name), *limit)
    count = len(scenario.requests)
    if count > MAX_REQUESTS:
        sentence = f"{count:,} requests are too many here; at most {MAX_REQUESTS:,} would do."
        raise ScenarioError("requests", sentence)
    output = sum(spec.max_tokens for spec in scenario.requests)
    if output > MAX_OUTPUT:
        sentence = f"{output:,} output tokens are too many here; {MAX_OUTPUT:,} would do."
        raise ScenarioError("requests", sentence)
    last = max((spec.arrival_step for spec in scenario.requests), default=0)
    if last > MAX_ARRIVAL:
        sentence = (
            f"the last request arrives at step {last:,}; at most {MAX_ARRIVAL:,} would do here."
        )
        raise ScenarioError("requests", sentence)
    size = scenario.block_size
    blocks = sum(-(-stored_slots(scenario, spec) // size) for spec in scenario.requests)
    if blocks > MAX_BLOCKS:
        sentence = (
            f"{blocks:,} blocks for all requests are too many here; {MAX_BLOCKS:,} would do: take "
            "larger blocks, or fewer requests."
        )
        raise ScenarioError("requests", sentence)


def within(name: str, value: int, low: int, high: int, unit: str) -> int:
    """`value` when it is in low .. high; else raises ScenarioError, in one sentence."""
    if not low <= value <= high:
        raise ScenarioError(name, f"{name} is {value:,}; {low:,} to {high:,} {unit} would do here.")
    return value
