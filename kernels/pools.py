"""The tensors of a decode step to be timed: caches enough that the L2 never holds the next one.

The query, the block table, the lengths and any plan are shared by all caches, as by the layers of a
model.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch

from kernels.cases import Decode
from kernels.reference import dense_attention

ROTATION = 10  # times the L2 that one turn over all caches reads
MOST_POOLS = 512
NULL_BLOCK = 0  # pads the block tables: others' kernels read padded entries, and then this block
K_SCALE = 0.5  # of a float8 cache; values are stored as they are


@dataclass(frozen=True, slots=True)
class Pools:
    """A case's arguments on a device. The caches hold random tokens in every slot."""

    case: Decode
    query: torch.Tensor  # [num_seqs, num_heads, head_size]
    caches: list[
        tuple[torch.Tensor, torch.Tensor]
    ]  # [num_blocks, block_size, num_kv_heads, head_size]
    block_tables: torch.Tensor  # [num_seqs, max_num_blocks] int32
    seq_lens: torch.Tensor  # [num_seqs] int32
    out: torch.Tensor  # like query; of every call
    scale: float
    k_scale: float
    references: dict[int, torch.Tensor] = field(default_factory=dict)

    @property
    def max_seq_len(self) -> int:
        """The longest sequence's tokens."""
        return max(self.case.job.seq_lens)

    def tokens(self, pool: int, seq: int) -> tuple[torch.Tensor, torch.Tensor]:
        """K and V of a sequence as the cache holds them: [seq_len, num_kv_heads, head_size]."""
        job = self.case.job
        token = torch.arange(job.seq_lens[seq], device=self.query.device)
        block = self.block_tables[seq].long()[token // job.block_size]
        key, value = (stored(c, block, token % job.block_size) for c in self.caches[pool])
        return key, value

    def reference(self, pool: int) -> torch.Tensor:
        """What the query gets from one cache in float64, computed once."""
        if pool not in self.references:
            self.references[pool] = float64_attention(self, pool, self.query)
        return self.references[pool]


def make_pools(case: Decode, device: torch.device, num_pools: int) -> Pools:
    """Draw a case's tensors: keys and queries normal, values in [−1, 1]."""
    job = case.job
    random = torch.Generator(device).manual_seed(job.seed)
    dtype = getattr(torch, job.dtype)
    query = torch.randn(
        job.num_seqs, job.num_heads, job.head_size, generator=random, device=device, dtype=dtype
    )
    pools = Pools(
        case,
        query,
        [_cache(case, random, dtype) for _ in range(num_pools)],
        _tables(job.block_tables).to(device),
        torch.tensor(job.seq_lens, dtype=torch.int32, device=device),
        torch.empty_like(query),
        job.head_size**-0.5,
        K_SCALE if case.fp8 else 1.0,
    )
    if job.given:
        _give(pools)
    return pools


def pools_past_l2(num_bytes: int, l2_bytes: int) -> int:
    """How many caches of so many bytes in use make a turn that leaves nothing in the L2."""
    return min(MOST_POOLS, max(2, -(-ROTATION * l2_bytes // max(1, num_bytes))))


def float64_attention(pools: Pools, pool: int, query: torch.Tensor) -> torch.Tensor:
    """What a query gets from the values that one cache holds: [num_seqs, num_heads, head_size]."""
    out = torch.empty(query.shape, dtype=torch.float64, device=query.device)
    for seq in range(len(out)):
        key, value = (tensor.double() for tensor in pools.tokens(pool, seq))
        out[seq] = dense_attention(query[seq].double(), key * pools.k_scale, value, pools.scale)
    return out


def relative_error(output: torch.Tensor, reference: torch.Tensor) -> float:
    """The largest ‖output − reference‖ ÷ ‖reference‖ of a head; of ‖output‖ where that is 0.

    Relative, as outputs shrink with the number of tokens: a lost block would hide in an absolute
    error.
    """
    error = (output.double() - reference).norm(dim=-1)
    size = reference.norm(dim=-1)
    worst = (error / torch.where(size == 0, 1.0, size)).nan_to_num(nan=float("inf")).max()
    return float(worst)


def stored(cache: torch.Tensor, *index: torch.Tensor) -> torch.Tensor:
    """Elements of a cache by index; torch cannot index float8 on every device."""
    if cache.element_size() > 1:
        return cache[index]
    return cache.view(torch.uint8)[index].view(cache.dtype)


def _cache(
    case: Decode, random: torch.Generator, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    job = case.job
    shape = (job.num_blocks, job.block_size, job.num_kv_heads, job.head_size)
    key = torch.randn(shape, generator=random, device=random.device, dtype=dtype)
    value = torch.rand(shape, generator=random, device=random.device, dtype=dtype) * 2 - 1
    if not case.fp8:
        return key, value
    return (key / K_SCALE).to(torch.float8_e4m3fn), value.to(torch.float8_e4m3fn)


def _tables(block_tables: Iterable[tuple[int, ...]]) -> torch.Tensor:
    rows = [torch.tensor(table, dtype=torch.int32) for table in block_tables]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=NULL_BLOCK)


def _give(pools: Pools) -> None:
    """Put a job's given vectors in place of the drawn ones."""
    job = pools.case.job
    assert job.given
    token = torch.arange(job.seq_lens[0], device=pools.query.device)
    where = (pools.block_tables[0].long()[token // job.block_size], token % job.block_size)
    pools.query[0, 0] = torch.tensor(job.given.query)
    for key_cache, value_cache in pools.caches:
        key_cache[where] = torch.tensor(job.given.key, dtype=key_cache.dtype, device=token.device)[
            :, None
        ]
        value_cache[where] = torch.tensor(
            job.given.value, dtype=value_cache.dtype, device=token.device
        )[:, None]
