"""A run that was cut says what vLLM would wait for."""

import pytest

from pages.ui.stalled import why_stalled
from sim.prompt import TokenPrompt
from sim.scenario import RequestSpec, Scenario
from sim.simulate import simulate


def run(*requests, **engine):
    specs = tuple(
        RequestSpec(name, 0, TokenPrompt((i,) * tokens), outputs, min_tokens=at_least)
        for i, (name, tokens, outputs, at_least) in enumerate(requests)
    )
    return simulate(Scenario(requests=specs, **{"block_size": 4, "max_model_len": 32, **engine}))


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        (
            run(("A", 20, 1, 0), num_gpu_blocks=4),
            "A needs 5 blocks, more than the 3 there are, and nobody overtakes it; "
            "6 blocks with the null block would do for it.",
        ),
        (
            run(
                ("A", 6, 20, 0),
                num_gpu_blocks=4,
                scheduler_reserve_full_isl=False,
                max_num_batched_tokens=4,
                enable_prefix_caching=False,
            ),
            "A ran alone and found no block among the 3 there are: it gives its own back and "
            "starts again, for ever; 8 blocks with the null block would do for it.",
        ),
        (
            run(("A", 6, 4, 30), num_gpu_blocks=9, max_model_len=12),
            "A stands at max_model_len, 12 tokens, but its min_tokens forbid it to stop, so it "
            "keeps its blocks; fewer min_tokens would do.",
        ),
    ],
)
def test_the_sentence_names_who_and_how_much(log, sentence):
    assert log.stalled
    assert why_stalled(log) == f"Nothing can run any more: {sentence}"
