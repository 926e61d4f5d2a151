"""A synthetic load: requests that arrive by chance, with lengths by chance, all from one seed.

Arrivals are a Poisson process; lengths are log-normal around their median, so a few are long. The
first tokens of every prompt are one text that all share.
"""

import math
from dataclasses import dataclass
from random import Random

from sim.prompt import HashedPrompt
from sim.scenario import MAX_BLOCK_SIZE, RequestSpec

COMMON = -1  # the hash id of the shared text; a request's own ids follow below
OWN_IDS = 1_000_000  # of each request, at most
LONGEST = 16  # times the median; longer draws are cut there


@dataclass(frozen=True, slots=True)
class Load:
    """`rate` requests a step on average, 0 for all at once; lengths are medians in tokens.

    `spread` is the sigma of both lengths. `shared` tokens, at most MAX_BLOCK_SIZE, stand in front
    of each prompt's own. Priorities, 0 (first) to 2, are drawn for the priority policy.
    """

    num_requests: int
    rate: float
    prompt: int
    output: int
    spread: float = 0.5
    shared: int = 0
    seed: int = 1


def requests_of(load: Load, max_model_len: int) -> tuple[RequestSpec, ...]:
    """Requests r0, r1, … of a load; prompt and output are cut to fit max_model_len."""
    rng = Random(load.seed)
    requests, time = [], 0.0
    for index in range(load.num_requests):
        time += rng.expovariate(load.rate) if load.rate else 0.0
        own = _length(rng, load.prompt, load.spread)
        output = _length(rng, load.output, load.spread)
        tokens = min(load.shared + own, max_model_len - 1)
        prompt = _prompt(index, load.shared, tokens)
        output = min(output, max_model_len - tokens)
        priority = rng.randrange(3)
        requests.append(RequestSpec(f"r{index}", int(time), prompt, output, priority=priority))
    return tuple(requests)


def _length(rng: Random, median: int, spread: float) -> int:
    drawn = median * math.exp(spread * rng.gauss(0.0, 1.0))
    return max(1, min(round(drawn), LONGEST * median))


def _prompt(index: int, shared: int, tokens: int) -> HashedPrompt:
    """Pieces as long as the shared text, if there is one: the first piece is that text."""
    size = shared or min(tokens, MAX_BLOCK_SIZE)
    ids = [COMMON - 1 - index * OWN_IDS - piece for piece in range(-(-tokens // size))]
    if shared:
        ids[0] = COMMON
    return HashedPrompt(tuple(ids), size, tokens)
