"""This project's kernels and torch's, set up to run on the pools of a case, one call a cache."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch

from kernels.job import TOLERANCE as JOB_TOLERANCE
from kernels.job import DType
from kernels.pools import Pools, float64_attention, relative_error

# Of `kernels.pools.relative_error`. 16 bits round the weights and the output: two roundings, as in
# `kernels.job`. In float32 the scores decide, sums of head_size products: rounding them moves every
# weight, and shows where many tokens' values nearly cancel. 64 roundings are allowed for it.
TOLERANCE: dict[DType, float] = JOB_TOLERANCE | {"float32": 64 * 2.0**-24}

Run = Callable[[int], object]  # a call on pool i


@dataclass(frozen=True, slots=True)
class Contender:
    """A kernel that is ready: `worst` runs it and compares, None where there is no result."""

    run: Run
    worst: Callable[[], float] | None
    tolerance: float | None
    plan: Callable[[], object] | None = None  # once a step for all layers


def attends(
    pools: Pools,
    run: Callable[[int], torch.Tensor],
    plan: Callable[[], object] | None = None,
    query: torch.Tensor | None = None,
    tolerance: float | None = None,
) -> Contender:
    """A contender whose call returns the outputs.

    One that rounds the query gives what it rounds it to, and one that rounds more its tolerance.
    """
    return Contender(
        run,
        partial(_worst, pools, run, query),
        TOLERANCE[pools.case.job.dtype] if tolerance is None else tolerance,
        plan,
    )


def _worst(pools: Pools, run: Callable[[int], torch.Tensor], query: torch.Tensor | None) -> float:
    """The error on the first and on the last cache, outputs poisoned."""
    errors = []
    for pool in {0, len(pools.caches) - 1}:
        pools.out.fill_(float("nan"))
        exact = pools.reference(pool) if query is None else float64_attention(pools, pool, query)
        errors.append(relative_error(run(pool), exact))
    return max(errors)


def ours(pools: Pools) -> Contender:
    """`kernels.decode`, with a plan."""
    from kernels.decode import paged_attention
    from kernels.plan import Plan, plan_decode

    def make_plan() -> Plan | None:
        return plan_decode(pools.query, pools.caches[0][0], pools.seq_lens)

    attend = partial(
        paged_attention,
        plan=make_plan(),
        max_seq_len=pools.max_seq_len,
        k_scale=pools.k_scale if pools.case.fp8 else None,
        v_scale=1.0 if pools.case.fp8 else None,
    )
    return attends(pools, partial(_call, pools, attend, pools.caches), make_plan)


def classic(version: int, pools: Pools) -> Contender:
    """v1 or v2 of `kernels.classic`, on caches in their layout."""
    from kernels import classic

    attend = partial(
        (classic.paged_attention_v1, classic.paged_attention_v2)[version - 1],
        max_seq_len=pools.max_seq_len,
        k_scale=pools.k_scale,
    )
    caches = [split(*cache) for cache in pools.caches]
    return attends(pools, partial(_call, pools, attend, caches))


def split(key_cache: torch.Tensor, value_cache: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Caches [num_blocks, block_size, num_kv_heads, head_size] in the classic layout, copied."""
    x = 16 // key_cache.element_size()
    chunks = key_cache.reshape(*key_cache.shape[:3], -1, x)
    return (
        chunks.permute(0, 2, 3, 1, 4).contiguous(),
        value_cache.permute(0, 2, 3, 1).contiguous(),
    )


def sdpa(pools: Pools) -> Contender | None:
    """torch's attention over K and V in one piece: what paging is compared with.

    None for ragged batches and for fp8, which torch's kernel lacks.
    """
    job = pools.case.job
    if pools.case.fp8 or len(set(job.seq_lens)) > 1:
        return None
    dense = [(_dense(pools, key), _dense(pools, value)) for key, value in pools.caches]
    query = pools.query.unsqueeze(2)  # [num_seqs, num_heads, 1, head_size]
    grouped = job.num_heads > job.num_kv_heads

    def run(pool: int) -> torch.Tensor:
        key, value = dense[pool]
        out = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, scale=pools.scale, enable_gqa=grouped
        )
        return out.squeeze(2)

    return attends(pools, run)


def _dense(pools: Pools, cache: torch.Tensor) -> torch.Tensor:
    """[num_seqs, num_kv_heads, seq_len, head_size], contiguous."""
    tokens = cache[pools.block_tables.long()].flatten(1, 2)[:, : pools.max_seq_len]
    return tokens.transpose(1, 2).contiguous()


def _call(
    pools: Pools,
    attend: Callable[..., torch.Tensor],
    caches: list[tuple[torch.Tensor, torch.Tensor]],
    pool: int,
) -> torch.Tensor:
    return attend(
        pools.query,
        *caches[pool],
        pools.block_tables,
        pools.seq_lens,
        pools.scale,
        out=pools.out,
    )


def read_limits(pools: Pools) -> list[Contender]:
    """Plain reads of the same bytes in several shapes; of a block that is shared, once."""
    from kernels.read_limit import readers

    words = [tuple(cache.flatten().view(torch.int32) for cache in pair) for pair in pools.caches]
    num_words = min(pools.case.num_bytes // 8, words[0][0].numel())

    def run(read: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], pool: int) -> object:
        return read(*words[pool])

    found = readers(num_words, pools.query.device)
    return [Contender(partial(run, read), None, None) for read in found]


DECODE: dict[str, Callable[[Pools], Contender | None]] = {
    "ours": ours,
    "v1": partial(classic, 1),
    "v2": partial(classic, 2),
    "SDPA, dense": sdpa,
}
