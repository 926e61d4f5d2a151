"""Jobs by name: the lesson's example, and decode steps of known models."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kernels.job import DType, Given, Job

Order = Literal["shuffled", "contiguous"]


@dataclass(frozen=True, slots=True)
class Model:
    """The shape of a model's attention, one layer, one GPU; a named one's from its config.json."""

    name: str
    num_heads: int
    num_kv_heads: int
    head_size: int


MODELS = {
    model.name: model
    for model in (
        Model("Qwen2.5-7B", 28, 4, 128),
        Model("Llama-3.1-8B", 32, 8, 128),
        Model("MHA", 32, 32, 128),  # a KV head for every query head
        Model("MQA", 32, 1, 128),  # one for all
    )
}

LESSON_QUERY = (0.5, -0.3, 0.8, 0.1)
LESSON_KEY = (
    (0.2, 0.1, -0.4, 0.6),
    (0.9, -0.2, 0.3, 0.0),
    (-0.5, 0.4, 0.7, -0.1),
    (0.1, 0.1, 0.1, 0.1),
    (0.8, 0.8, -0.8, 0.2),
    (-0.3, 0.5, 0.2, 0.9),
)
LESSON_VALUE = (
    (1.0, 0.0, 0.0, 0.0),
    (0.0, 1.0, 0.0, 0.0),
    (0.0, 0.0, 1.0, 0.0),
    (0.0, 0.0, 0.0, 1.0),
    (0.5, 0.5, 0.5, 0.5),
    (1.0, 1.0, 1.0, 1.0),
)


def lesson(dtype: DType = "float32") -> Job:
    """The lesson's sequence A: six tokens in blocks of 4, at physical blocks 3 and 1, one head."""
    given = Given(LESSON_QUERY, LESSON_KEY, LESSON_VALUE)
    return Job("lesson", ((3, 1),), (6,), 4, 1, 1, 4, dtype, given=given)


def decode_step(
    model: Model,
    seq_lens: tuple[int, ...],
    *,
    block_size: int = 16,
    dtype: DType = "float32",
    order: Order = "shuffled",
    seed: int = 0,
) -> Job:
    """One layer of one decode step: each sequence in blocks of its own, from block 1 on.

    Block 0 is left out, as vLLM's null block is. Contiguous tables count up; shuffled ones take the
    same ids in an order drawn from the seed.
    """
    num_blocks = [-(-seq_len // block_size) for seq_len in seq_lens]
    ids = np.arange(1, sum(num_blocks) + 1)
    if order == "shuffled":
        np.random.default_rng(seed).shuffle(ids)
    tables = np.split(ids, np.cumsum(num_blocks)[:-1])
    return Job(
        model.name,
        tuple(tuple(table.tolist()) for table in tables),
        seq_lens,
        block_size,
        model.num_heads,
        model.num_kv_heads,
        model.head_size,
        dtype,
        seed,
    )
