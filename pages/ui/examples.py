"""The scenarios a visitor starts from. Each has one thing to show, and opens at the step of it."""

from dataclasses import dataclass
from typing import Any

from pages.ui.request_table import sized_request
from sim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Example:
    """A scenario, its name in links, what it shows in one sentence, and the step of it."""

    slug: str
    title: str
    shows: str
    step: int
    scenario: Scenario


def example(
    slug: str,
    title: str,
    shows: str,
    step: int,
    *rows: tuple[str, int, int, int, int],
    **engine: Any,
) -> Example:
    """An Example; a row is id, prompt tokens, shared tokens, output tokens, arrival step."""
    requests = tuple(sized_request(*row) for row in rows)
    return Example(slug, title, shows, step, Scenario(requests=requests, name=title, **engine))


EXAMPLES = (
    example(
        "lesson",
        "The lesson's example",
        "A's six tokens end in blocks 3 and 1: it took what B and D had given back.",
        3,
        ("B", 2, 0, 2, 0),
        ("C", 2, 0, 3, 0),
        ("D", 2, 0, 1, 0),
        ("A", 4, 0, 3, 1),
        block_size=4,
        num_gpu_blocks=5,
        max_model_len=16,
    ),
    example(
        "two-chats",
        "Two chats",
        "Both start with the same 12 tokens: the second one holds the first one's blocks.",
        2,
        ("Ann", 18, 12, 14, 0),
        ("Ben", 21, 12, 9, 2),
        block_size=4,
        num_gpu_blocks=24,
        max_model_len=48,
    ),
    example(
        "long-and-short",
        "Long and short",
        "A long prompt is spread over steps by the token budget; short requests run beside it.",
        4,
        ("long", 90, 0, 12, 0),
        ("s1", 6, 0, 10, 1),
        ("s2", 9, 0, 7, 2),
        ("s3", 5, 0, 16, 3),
        block_size=8,
        num_gpu_blocks=32,
        max_model_len=128,
        max_num_batched_tokens=24,
    ),
    example(
        "too-small",
        "Pool too small",
        "Blocks run out while all decode: the last to come gives its own back, and starts again.",
        25,
        ("r0", 14, 4, 30, 0),
        ("r1", 11, 4, 24, 1),
        ("r2", 16, 4, 20, 2),
        ("r3", 9, 4, 18, 3),
        block_size=4,
        num_gpu_blocks=20,
        max_model_len=64,
    ),
)
