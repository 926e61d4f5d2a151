"""Prompts as a visitor types them, and the scenario they make: words are tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

from sim.checked import ScenarioError
from sim.prompt import TokenPrompt
from sim.scenario import RequestSpec, Scenario
from sim.words import split, token_id

IDS = "ABCD"
FEWEST = 2
MAX_WORDS = 64
MAX_CHARS = 1_000
MAX_SALT = 24  # characters
MAX_OUTPUTS = 32  # tokens
MAX_ARRIVAL = 40  # steps
BLOCK_SIZES = (1, 16)  # tokens
POOLS = (4, 64)  # blocks, the null block included


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request as typed: its words, the step it comes in, how many tokens are answered."""

    text: str
    arrives: int
    outputs: int
    salt: str = ""


def scenario_of(
    name: str, prompts: Sequence[Prompt], block_size: int, num_gpu_blocks: int
) -> Scenario:
    """The scenario of some prompts, called A, B, C, D in their order.

    Raises ScenarioError, in one sentence, when one will not do; its `field` is the id of the
    request, or `num_gpu_blocks` when one can never fit into the pool.
    """
    scenario = Scenario(
        name=name,
        num_gpu_blocks=num_gpu_blocks,
        block_size=block_size,
        max_model_len=MAX_WORDS + MAX_OUTPUTS + 1,
        requests=tuple(map(_request, IDS, prompts)),
    )
    for spec in scenario.requests:
        _check_fits(spec, scenario)
    return scenario


def num_words(text: str) -> int:
    """How many tokens a text is, as far as it is read."""
    return len(split(text[: MAX_CHARS + 1]))


def _request(id: str, prompt: Prompt) -> RequestSpec:
    words = split(prompt.text[: MAX_CHARS + 1])
    if len(prompt.text) > MAX_CHARS or len(words) > MAX_WORDS:
        size = f"{len(words):,} words" if len(words) > MAX_WORDS else f"{len(prompt.text):,} signs"
        room = f"{MAX_WORDS} words in {MAX_CHARS:,} signs"
        raise ScenarioError(id, f"{id} has {size}; at most {room} would do here.")
    if not words:
        raise ScenarioError(id, f"{id} has 0 words; 1 to {MAX_WORDS} would do.")
    if len(prompt.salt) > MAX_SALT:
        sentence = f"{id}'s salt has {len(prompt.salt)} signs; at most {MAX_SALT} would do here."
        raise ScenarioError(id, sentence)
    return RequestSpec(
        id,
        prompt.arrives,
        TokenPrompt(tuple(map(token_id, words))),
        prompt.outputs,
        tuple(token_id(f"{id}·{k}") for k in range(prompt.outputs)),
        cache_salt=prompt.salt or None,
    )


def _check_fits(spec: RequestSpec, scenario: Scenario) -> None:
    """The last token's K and V are never computed, so it needs no slot."""
    tokens = spec.prompt.num_tokens + spec.max_tokens - 1
    needed = -(-tokens // scenario.block_size)
    if needed > scenario.num_gpu_blocks - 1:
        raise ScenarioError(
            "num_gpu_blocks",
            f"{spec.id} needs {needed} blocks for its {tokens} tokens, and a pool of "
            f"{scenario.num_gpu_blocks} has {scenario.num_gpu_blocks - 1} to give: "
            f"{needed + 1} would do, or larger blocks.",
        )
