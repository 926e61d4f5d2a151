"""Prompts as a visitor types them, and the scenario they make."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pages.figures.prefix_tokens import Tokens, read_tokens
from sim.checked import ScenarioError
from sim.prompt import TokenPrompt
from sim.scenario import RequestSpec, Scenario, Version
from sim.words import token_id

IDS = "ABCD"
FEWEST = 2
MAX_TOKENS = 128
MAX_CHARS = 1_000
MAX_SALT = 24  # characters
MAX_OUTPUTS = 32  # tokens
MAX_ARRIVAL = 40  # steps
BLOCK_SIZES = (1, 16)  # tokens
POOLS = (4, 64)  # blocks, the null block included
NOUNS: dict[Tokens, str] = {"words": "words", "bytes": "bytes", "ids": "token ids"}


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request as typed: its text, the step it comes in, how many tokens are answered."""

    text: str
    arrives: int
    outputs: int
    salt: str = ""


def scenario_of(
    name: str,
    prompts: Sequence[Prompt],
    block_size: int,
    num_gpu_blocks: int,
    version: Version = "0.26.0",
    tokens: Tokens = "words",
) -> Scenario:
    """The scenario of some prompts, called A, B, C, D in their order.

    Raises ScenarioError, in one sentence, when one will not do; its `field` is the id of the
    request, or `num_gpu_blocks` when one can never fit into the pool.
    """
    scenario = Scenario(
        name=name,
        num_gpu_blocks=num_gpu_blocks,
        block_size=block_size,
        max_model_len=MAX_TOKENS + MAX_OUTPUTS + 1,
        requests=tuple(_request(id, p, tokens) for id, p in zip(IDS, prompts, strict=False)),
        version=version,
    )
    for spec in scenario.requests:
        _check_fits(spec, scenario)
    return scenario


def finishing(prompts: Sequence[Prompt], order: str) -> list[Prompt]:
    """The prompts, answered so long that they end in `order`, a step apart, once all have come.

    Raises ScenarioError, in one sentence, when an answer would be too long for that.
    """
    last = max(prompt.arrives for prompt in prompts)
    ends = {id: last + place for place, id in enumerate(order)}
    return [
        replace(prompt, outputs=_long_enough(id, ends[id] - prompt.arrives + 1))
        for id, prompt in zip(IDS, prompts, strict=False)
    ]


def num_tokens(text: str, tokens: Tokens) -> int:
    """How many tokens a text is, as far as it is read; 0 when it cannot be."""
    try:
        return len(read_tokens(text[: MAX_CHARS + 1], tokens))
    except ValueError:
        return 0


def _long_enough(id: str, outputs: int) -> int:
    if outputs > MAX_OUTPUTS:
        sentence = (
            f"To end in this order {id} needs {outputs} answer tokens; at most {MAX_OUTPUTS} would "
            "do: let the prompts come closer together."
        )
        raise ScenarioError("finish", sentence)
    return outputs


def _request(id: str, prompt: Prompt, tokens: Tokens) -> RequestSpec:
    if len(prompt.salt) > MAX_SALT:
        sentence = f"{id}'s salt has {len(prompt.salt)} signs; at most {MAX_SALT} would do here."
        raise ScenarioError(id, sentence)
    return RequestSpec(
        id,
        prompt.arrives,
        TokenPrompt(_token_ids(id, prompt.text, tokens)),
        prompt.outputs,
        tuple(token_id(f"{id}·{k}") for k in range(prompt.outputs)),
        cache_salt=prompt.salt or None,
    )


def _token_ids(id: str, text: str, tokens: Tokens) -> tuple[int, ...]:
    try:
        ids = read_tokens(text[: MAX_CHARS + 1], tokens)
    except ValueError as error:
        sentence = f"{id} has {str(error)[:24]!r} for a token id; 0 to 999,999 would do."
        raise ScenarioError(id, sentence) from None
    noun = NOUNS[tokens]
    if len(text) > MAX_CHARS or len(ids) > MAX_TOKENS:
        size = f"{len(ids):,} {noun}" if len(ids) > MAX_TOKENS else f"{len(text):,} signs"
        room = f"{MAX_TOKENS} {noun} in {MAX_CHARS:,} signs"
        raise ScenarioError(id, f"{id} has {size}; at most {room} would do here.")
    if not ids:
        raise ScenarioError(id, f"{id} has 0 {noun}; 1 to {MAX_TOKENS} would do.")
    return tuple(ids)


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
