"""Attention on plain numbers: what one query does with keys and values scattered over blocks.

`dense_attention` is the definition. `paged_attention` reaches the same keys and values through a
block table, folds them in one token at a time (online softmax) and records each block it visits
and each token it folds. `write_through` is the way in: the same table, flattened to slots.

All arithmetic is Python float (IEEE double), so paged and dense may differ by rounding only; the
last bits depend on the Python version, since `sum` of floats is compensated from 3.12 on.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sim.attention_input import AttentionInput, Table, Vector, check_length

Pool = list[list[Vector]]  # [num_blocks][block_size], each slot one vector


@dataclass(frozen=True, slots=True)
class TokenWritten:
    """One token's K and V went to `slot` = block_id × block_size + offset."""

    position: int
    slot: int
    block_id: int
    offset: int


@dataclass(frozen=True, slots=True)
class BlockVisited:
    """The walk looked up one table entry: logical block → physical block."""

    logical_block: int
    block_id: int


@dataclass(frozen=True, slots=True)
class TokenFolded:
    """One token's score and value folded into the running state (m, l, acc).

    `corr` = exp(m_old − m) scales what was carried (alpha in the FlashAttention papers), `p` =
    exp(s − m) weighs what is added; `l` and `acc` are the values after both.
    """

    position: int
    block_id: int
    offset: int
    s: float
    m_old: float
    m: float
    corr: float
    p: float
    l: float
    acc: tuple[float, ...]

    @property
    def output(self) -> list[float]:
        """The attention output if this token were the last: acc / l."""
        return [a / self.l for a in self.acc]


Record = Callable[[BlockVisited | TokenFolded], object]


def paged_attention(
    q: Vector, block_table: Table, k_pool: Pool, v_pool: Pool, seq_len: int, record: Record
) -> list[float]:
    """One query over the first `seq_len` tokens that `block_table` leads to, in table order.

    Slots past `seq_len` are never read. Raises ValueError when the table is too short or
    `seq_len` is not positive (softmax of nothing has no value).
    """
    check_length(seq_len, len(block_table), len(k_pool[0]))
    d, position = len(q), 0
    m, l, acc = -math.inf, 0.0, [0.0] * len(q)
    for logical_block, block_id in enumerate(block_table):
        record(BlockVisited(logical_block, block_id))
        keys, values = k_pool[block_id], v_pool[block_id]
        for offset in range(len(keys)):
            if position == seq_len:
                break
            k, v = keys[offset], values[offset]
            s = dot(q, k) / math.sqrt(d)
            m_old, m = m, max(m, s)
            corr = math.exp(m_old - m)
            p = math.exp(s - m)
            l = l * corr + p
            acc = [acc[i] * corr + p * v[i] for i in range(d)]
            record(TokenFolded(position, block_id, offset, s, m_old, m, corr, p, l, tuple(acc)))
            position += 1
    return [a / l for a in acc]


def dense_attention(q: Vector, keys: Sequence[Vector], values: Sequence[Vector]) -> list[float]:
    """Softmax of all scores at once, then the weighted sum of `values`: the definition."""
    scores = [dot(q, k) / math.sqrt(len(q)) for k in keys]
    m = max(scores)
    weights = [math.exp(s - m) for s in scores]
    total = sum(weights)
    columns = zip(*values, strict=True)
    return [sum(w / total * x for w, x in zip(weights, c, strict=True)) for c in columns]


def dot(a: Vector, b: Vector) -> float:
    """Σ aᵢ bᵢ."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def slot_mapping(block_table: Table, seq_len: int, block_size: int) -> list[int]:
    """The slot of each token: table[i // block_size] × block_size + i % block_size."""
    return [block_table[i // block_size] * block_size + i % block_size for i in range(seq_len)]


def empty_pool(num_blocks: int, block_size: int, head_size: int) -> Pool:
    """A pool nobody has written to: NaN everywhere, so that a stray read cannot hide."""
    unwritten = (math.nan,) * head_size
    return [[unwritten] * block_size for _ in range(num_blocks)]


def write_through(
    slots: Sequence[int], vectors: Sequence[Vector], pool: Pool
) -> list[TokenWritten]:
    """Write token i's vector into slot `slots[i]` of `pool`; returns where each one went."""
    written = []
    for position, (slot, vector) in enumerate(zip(slots, vectors, strict=True)):
        block_id, offset = divmod(slot, len(pool[0]))
        pool[block_id][offset] = vector
        written.append(TokenWritten(position, slot, block_id, offset))
    return written


@dataclass(frozen=True, slots=True)
class Walk:
    """One query head's way through the block table, beside the dense answer."""

    events: tuple[BlockVisited | TokenFolded, ...]
    output: list[float]
    dense: list[float]

    @property
    def visits(self) -> list[BlockVisited]:
        """The table entries, in the order they were looked up."""
        return [event for event in self.events if isinstance(event, BlockVisited)]

    @property
    def folds(self) -> list[TokenFolded]:
        """The tokens, in the order they were folded."""
        return [event for event in self.events if isinstance(event, TokenFolded)]

    def error(self, output: Vector) -> float:
        """Largest distance of `output` from the dense answer over the components."""
        return max(abs(a - b) for a, b in zip(output, self.dense, strict=True))


def written_pool(
    inputs: AttentionInput, vectors: Sequence[Vector]
) -> tuple[Pool, list[TokenWritten]]:
    """A fresh pool with `vectors` (one KV head's K or V) in the slots of `inputs`' table."""
    pool = empty_pool(inputs.num_blocks, inputs.block_size, inputs.head_size)
    slots = slot_mapping(inputs.block_table, inputs.seq_len, inputs.block_size)
    return pool, write_through(slots, vectors, pool)


def attend(inputs: AttentionInput) -> list[Walk]:
    """Write every token into a fresh pool, then walk the table once per query head."""
    k_pools = [written_pool(inputs, keys)[0] for keys in inputs.keys]
    v_pools = [written_pool(inputs, values)[0] for values in inputs.values]
    walks = []
    for head, q in enumerate(inputs.queries):
        kv = inputs.kv_head(head)
        events: list[BlockVisited | TokenFolded] = []
        read = inputs.block_table, k_pools[kv], v_pools[kv], inputs.seq_len
        output = paged_attention(q, *read, events.append)
        dense = dense_attention(q, inputs.keys[kv], inputs.values[kv])
        walks.append(Walk(tuple(events), output, dense))
    return walks
