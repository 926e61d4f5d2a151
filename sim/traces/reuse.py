"""How much of a trace's prompts a prefix cache can serve: requests one after the other.

Both counts are in blocks of the trace's own `hash_ids`, one number for each row, in order; the
last block of a prompt counts whether it is full or not. `hit_tokens` and `vllm_hit_tokens` turn
them into tokens.
"""

from collections.abc import Sequence
from itertools import takewhile

from sim.events import EventKind
from sim.prompt import HashedPrompt
from sim.scenario import RequestSpec, Scenario
from sim.simulate import simulate
from sim.traces.mooncake import TraceRow, hash_block_size_of

ANSWER = -1  # the id of a block that is never full, so never cached


def unlimited_hits(rows: Sequence[TraceRow]) -> list[int]:
    """Leading blocks of each prompt that an earlier prompt had, in a cache that never evicts."""
    seen: set[int] = set()
    hits = []
    for row in rows:
        hits.append(sum(1 for _ in takewhile(seen.__contains__, row.hash_ids)))
        seen.update(row.hash_ids)
    return hits


def lru_hits(rows: Sequence[TraceRow], num_blocks: int) -> list[int]:
    """Leading blocks of each prompt that the engine's own pool still holds, of `num_blocks`.

    The pool evicts the block that was let go first, and a request lets go of its last block first:
    this is least recently used with every prompt touched from its end to its beginning.

    Each prompt is filled up to whole blocks, so that the last one is cached too, and followed by
    one token, so that all of it may hit. That token's block has no hash and returns to the head of
    the free queue: the pool has one block more for it, and the null block.

    Raises ValueError when a prompt has more blocks than the cache.
    """
    longest = max(len(row.hash_ids) for row in rows)
    if longest > num_blocks:
        raise ValueError(f"{num_blocks} blocks cannot hold a prompt of {longest} blocks")
    size = hash_block_size_of(rows)
    tokens = longest * size + 1
    one_at_a_time = Scenario(
        num_gpu_blocks=num_blocks + 2,
        block_size=size,
        requests=tuple(_whole_blocks(row, size) for row in rows),
        max_num_seqs=1,
        max_num_batched_tokens=tokens,
        max_model_len=tokens + 1,
    )
    columns = simulate(one_at_a_time).columns
    admissions = columns["kind"] == EventKind.ADMIT
    return [int(tokens_hit) // size for tokens_hit in columns["a"][admissions]]


def _whole_blocks(row: TraceRow, size: int) -> RequestSpec:
    prompt = HashedPrompt((*row.hash_ids, ANSWER), size, len(row.hash_ids) * size + 1)
    return RequestSpec(f"line {row.line}", 0, prompt, max_tokens=1)


def hit_tokens(rows: Sequence[TraceRow], hits: Sequence[int]) -> list[int]:
    """Tokens in the blocks hit, for each row; the whole prompt when all its blocks are."""
    size = hash_block_size_of(rows)
    return [min(n * size, row.input_length) for row, n in zip(rows, hits, strict=True)]


def vllm_hit_tokens(
    rows: Sequence[TraceRow], hits: Sequence[int], block_size: int | None = None
) -> list[int]:
    """Those of `hit_tokens` that vLLM reads with blocks of `block_size`, by default the trace's.

    Full blocks only, and never the whole prompt: its last token is computed to get logits
    (vllm/v1/core/kv_cache_manager.py `get_computed_blocks`).
    """
    size = block_size or hash_block_size_of(rows)
    tokens = hit_tokens(rows, hits)
    return [
        min(n, row.input_length - 1) // size * size for row, n in zip(rows, tokens, strict=True)
    ]
