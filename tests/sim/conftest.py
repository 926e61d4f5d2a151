"""Scenarios by hand: small pools, blocks of 4."""

from collections.abc import Callable
from typing import Any

import pytest

from sim.prompt import TokenPrompt
from sim.scenario import RequestSpec, Scenario

Make = Callable[..., Any]


@pytest.fixture
def request_spec() -> Make:
    def make(name: str, prompt: list[int], outputs: int, arrival: int = 0, **extra: Any) -> Any:
        return RequestSpec(name, arrival, TokenPrompt(tuple(prompt)), outputs, **extra)

    return make


@pytest.fixture
def scenario() -> Make:
    def make(*requests: RequestSpec, num_gpu_blocks: int = 8, **extra: Any) -> Scenario:
        settings = {"block_size": 4, "max_num_batched_tokens": 16, "max_model_len": 28, **extra}
        return Scenario(num_gpu_blocks=num_gpu_blocks, requests=requests, **settings)

    return make
