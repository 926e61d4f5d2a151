"""The worked example of vLLM's design page on prefix caching (docs/design/prefix_caching.md).

There the pool is drawn without the null block: its block k is block k + 1 here. Its lists come out
with the order in which blocks were freed when it was written; 0.26.0 reuses other blocks.
"""

from sim.prompt import TokenPrompt
from sim.scenario import RequestSpec, Scenario, Version

BLOCKS_DRAWN = 10
TIME_TO_STEP = {1: 0, 3: 2, 4: 3, 5: 4, 6: 5, 7: 6}  # the page's "Time" -> our step


def documented_example(version: Version = "before 0.26") -> Scenario:
    """Three requests in blocks of 4: 15 tokens, 14 that share 10 of them, 29 that share 12.

    At Time 5 request 0 has ended, at Time 6 request 1; request 2 comes at Time 7, when the free
    queue is 7 8 9 4 3 2 6 5 1 0, and gets 0 1 2 (hits) and 7 8 9 4 3, of which 3 is evicted.
    """
    first = tuple(range(100, 115))
    requests = (
        RequestSpec("request 0", 0, TokenPrompt(first), max_tokens=4),
        RequestSpec("request 1", 3, TokenPrompt((*first[:10], *range(200, 204))), max_tokens=2),
        RequestSpec("request 2", 6, TokenPrompt((*first[:12], *range(300, 317))), max_tokens=2),
    )
    return Scenario(
        num_gpu_blocks=BLOCKS_DRAWN + 1,
        block_size=4,
        requests=requests,
        name="vLLM's documented example",
        max_model_len=40,
        version=version,
    )
