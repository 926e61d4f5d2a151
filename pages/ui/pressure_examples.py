"""The loads a visitor starts from. Each has one thing to show, and opens at the step of it."""

from dataclasses import dataclass
from typing import Any

from sim.load import Load


@dataclass(frozen=True, slots=True)
class PressureExample:
    """A load and an engine, named in links by the title, and what they show in one sentence."""

    slug: str
    title: str
    shows: str
    step: int
    load: Load
    engine: dict[str, Any]


SMALL = {"block_size": 16, "max_num_seqs": 16, "max_num_batched_tokens": 256, "max_model_len": 512}

PRESSURE_EXAMPLES = (
    PressureExample(
        "outputs",
        "Long outputs, 60 blocks",
        "Short prompts are let in easily. Then all of them grow, and the pool is full.",
        41,
        Load(num_requests=40, rate=2.5, prompt=24, output=80),
        {**SMALL, "num_gpu_blocks": 60},
    ),
    PressureExample(
        "shared",
        "One system prompt",
        "All begin with the same 128 tokens: who comes back finds at least these in the cache.",
        34,
        Load(num_requests=40, rate=1.0, prompt=32, output=80, shared=128),
        {**SMALL, "num_gpu_blocks": 60},
    ),
    PressureExample(
        "urgent",
        "Priorities",
        "The victim is the least urgent request, however much it has computed.",
        69,
        Load(num_requests=40, rate=1.0, prompt=48, output=80, seed=3),
        {**SMALL, "num_gpu_blocks": 60, "policy": "priority"},
    ),
    PressureExample(
        "steady",
        "300 requests, a longer queue",
        "More arrive than leave: the pool stays full, and waiting grows until arrivals end.",
        161,
        Load(num_requests=300, rate=0.5, prompt=160, output=120, shared=64),
        {
            "block_size": 16,
            "num_gpu_blocks": 512,
            "max_num_seqs": 64,
            "max_num_batched_tokens": 1_024,
            "max_model_len": 4_096,
        },
    ),
)
