"""Verdicts on the last of some requests, small enough to work out by hand."""

from sim.prompt import TokenPrompt
from sim.scenario import RequestSpec, Scenario
from sim.simulate import simulate
from sim.verdict import lookups

WORDS = tuple(range(1, 17))


def spec(name, prompt, outputs=1, arrival=0, **extra):
    answer = tuple(1_000 * ord(name) + k for k in range(outputs))
    return RequestSpec(name, arrival, TokenPrompt(tuple(prompt)), outputs, answer, **extra)


def found(*requests, blocks=32, block_size=4, **settings):
    """The lookups of the last request, in blocks of 4.

    A step that only reports who finished counts too, so one that arrives at 2 in an idle engine is
    let in at step 2.
    """
    scenario = Scenario(blocks, block_size, requests, max_model_len=64, **settings)
    return [found for found in lookups(simulate(scenario)) if found.request == len(requests) - 1]


def told(*requests, **settings):
    return [verdict for lookup in found(*requests, **settings) for verdict in lookup.verdicts]


def reasons(*requests, **settings):
    return [verdict.reason for verdict in told(*requests, **settings)]
