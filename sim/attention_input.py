"""What one attention step is given: queries, keys, values, and the blocks they lie in."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Vector = Sequence[float]
Table = Sequence[int]
TableOrder = Literal["scattered", "reversed", "in order"]


def check_length(seq_len: int, num_blocks: int, block_size: int) -> None:
    """Raise ValueError unless 1 ≤ seq_len ≤ num_blocks × block_size."""
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}; attention needs at least one token")
    if seq_len > num_blocks * block_size:
        room = f"{num_blocks} blocks of {block_size} hold {num_blocks * block_size} tokens"
        raise ValueError(f"{room}, not {seq_len}")


@dataclass(frozen=True, slots=True)
class AttentionInput:
    """One decode step of one request: its queries, its keys and values, and its blocks.

    `queries` [num_heads][head_size]; `keys` and `values` [num_kv_heads][seq_len][head_size].
    Query head h reads KV head h // (num_heads // num_kv_heads).
    """

    queries: Sequence[Vector]
    keys: Sequence[Sequence[Vector]]
    values: Sequence[Sequence[Vector]]
    block_table: tuple[int, ...]
    block_size: int
    num_blocks: int

    def __post_init__(self) -> None:
        check_length(self.seq_len, len(self.block_table), self.block_size)
        if len(self.queries) % len(self.keys):
            heads = f"{len(self.queries)} query heads over {len(self.keys)} KV heads"
            raise ValueError(f"{heads} do not divide evenly")
        if len(set(self.block_table)) != len(self.block_table):
            raise ValueError(f"block table {list(self.block_table)} names a block twice")
        if not all(0 <= b < self.num_blocks for b in self.block_table):
            pool = f"0 … {self.num_blocks - 1}"
            raise ValueError(f"block table {list(self.block_table)} leaves the pool, {pool}")

    @property
    def seq_len(self) -> int:
        """Tokens in the cache."""
        return len(self.keys[0])

    @property
    def head_size(self) -> int:
        """Numbers in one vector."""
        return len(self.queries[0])

    def first(self, seq_len: int) -> "AttentionInput":
        """The same request when only its first `seq_len` tokens were written."""
        keys, values = [k[:seq_len] for k in self.keys], [v[:seq_len] for v in self.values]
        table = self.block_table[: math.ceil(seq_len / self.block_size)]
        return replace(self, keys=keys, values=values, block_table=table)

    def placed(self, block_size: int, order: TableOrder, seed: int) -> "AttentionInput":
        """The same numbers in other blocks, in a pool half as large again as they need.

        Ids start at 1: vLLM keeps block 0 as the null block.
        """
        needed = math.ceil(self.seq_len / block_size)
        num_blocks = 1 + needed + max(2, needed // 2)
        table = random.Random(seed).sample(range(1, num_blocks), needed)
        if order != "scattered":
            table.sort(reverse=order == "reversed")
        return replace(self, block_table=tuple(table), block_size=block_size, num_blocks=num_blocks)

    def kv_head(self, head: int) -> int:
        """The KV head that query head `head` reads."""
        return head // (len(self.queries) // len(self.keys))


def random_input(
    seed: int, seq_len: int, head_size: int, num_heads: int, num_kv_heads: int
) -> AttentionInput:
    """Standard normal numbers of two decimals from `seed`, all tokens in one block."""
    rng = random.Random(seed)

    def vectors(count: int) -> list[Vector]:
        return [[round(rng.gauss(), 2) for _ in range(head_size)] for _ in range(count)]

    queries = vectors(num_heads)
    keys = [vectors(seq_len) for _ in range(num_kv_heads)]
    values = [vectors(seq_len) for _ in range(num_kv_heads)]
    return AttentionInput(queries, keys, values, (0,), seq_len, 1)


LESSON = AttentionInput(
    queries=[[0.5, -0.3, 0.8, 0.1]],
    keys=[
        [
            [0.2, 0.1, -0.4, 0.6],
            [0.9, -0.2, 0.3, 0.0],
            [-0.5, 0.4, 0.7, -0.1],
            [0.1, 0.1, 0.1, 0.1],
            [0.8, 0.8, -0.8, 0.2],
            [-0.3, 0.5, 0.2, 0.9],
        ]
    ],
    values=[
        [
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 1.0],
            [0.5, 0.5, 0.5, 0.5],
            [1.0, 1.0, 1.0, 1.0],
        ]
    ],
    block_table=(3, 1),
    block_size=4,
    num_blocks=5,
)
"""The lesson's example: six tokens in blocks 3 and 1 of a toy pool that has no null block."""
