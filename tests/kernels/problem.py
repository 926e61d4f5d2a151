"""A decode step drawn by chance, poisoned wherever nothing may be read, and its answer in float64.

Slots that hold no token, tokens that the window leaves out, blocks of no table, results and working
memory are NaN; table entries past a sequence's end are ids that must not be followed. The answer is
dense attention over the tokens as the cache stores them: it sees neither the pool nor the tables.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import torch

from kernels.config import Config
from kernels.decode import paged_attention
from kernels.job import TOLERANCE
from kernels.plan import Plan, plan_evenly

FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2)
FLOAT8_TOLERANCE = 4 * TOLERANCE["float16"]  # query and weights meet the cache in float16
NAN_CODE = 0x7F  # of both kinds of float8
PADDING = (-1, 2**31 - 1, 0)  # block 0 is NaN; the id of a living block comes besides

Caches = tuple[torch.Tensor, torch.Tensor]


def two_tensors(num_blocks: int, *sizes: int, **options: Any) -> Caches:
    """Key and value caches [num_blocks, block_size, num_kv_heads, head_size], each for itself."""
    key, value = torch.empty(2, num_blocks, *sizes, **options)
    return key, value


@dataclass(frozen=True, slots=True)
class Problem:
    """Arguments of `paged_attention`, and the tokens they stand for, float64 on the CPU."""

    query: torch.Tensor
    key_cache: torch.Tensor
    value_cache: torch.Tensor
    block_tables: torch.Tensor
    seq_lens: torch.Tensor
    scale: float
    options: dict[str, Any]  # sliding_window, soft_cap, alibi_slopes, k_scale, v_scale
    keys: tuple[torch.Tensor, ...]  # per sequence: [seq_len, num_kv_heads, head_size]
    values: tuple[torch.Tensor, ...]

    @property
    def arguments(self) -> dict[str, Any]:
        names = ("query", "key_cache", "value_cache", "block_tables", "seq_lens", "scale")
        return {name: getattr(self, name) for name in names} | self.options

    def attend(self, **changes: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """The kernel's output and LSE; every number it did not write is NaN."""
        results = {
            "out": torch.full_like(self.query, torch.nan),
            "lse": torch.full(self.query.shape[:2], torch.nan, device=self.query.device),
        }
        arguments = self.arguments | results | changes
        if plan := arguments.get("plan"):
            poison(plan)
        with poisoned_memory():
            out = paged_attention(**arguments)
        return out, arguments["lse"]

    def answer(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Output and LSE in float64, on the CPU."""
        rows = [self._row(seq) for seq in range(len(self.keys))]
        return torch.stack([out for out, _ in rows]), torch.stack([lse for _, lse in rows])

    def worst(self, **changes: Any) -> float:
        """Largest error of a call, as a share of what is tolerated; NaN if there is one."""
        out, lse = self.attend(**changes)
        right_out, right_lse = self.answer()
        lse = lse.double().cpu()
        lse_error = torch.where(lse == right_lse, 0.0, (lse - right_lse).abs())  # −inf is no NaN
        errors = (out.double().cpu() - right_out).abs() / self._tolerance
        return torch.maximum(errors.max(), lse_error.max() / self._lse_tolerance).item()

    def _row(self, seq: int) -> tuple[torch.Tensor, torch.Tensor]:
        keys, values = self.keys[seq], self.values[seq]
        group_size = self.query.shape[1] // keys.shape[1]
        first = max(0, len(keys) - (self.options.get("sliding_window") or len(keys)))
        position = torch.arange(first, len(keys), dtype=torch.float64) - (len(keys) - 1)
        keys, values = (x[first:].repeat_interleave(group_size, 1) for x in (keys, values))
        scores = torch.einsum("hd,thd->ht", self.query[seq].double().cpu(), keys)
        scores *= self.scale * self._number("k_scale")
        if cap := self.options.get("soft_cap"):
            scores = cap * torch.tanh(scores / cap)
        if (slopes := self.options.get("alibi_slopes")) is not None:
            scores += slopes.double().cpu()[:, None] * position
        out = torch.einsum("ht,thd->hd", torch.softmax(scores, -1), values)
        return out * self._number("v_scale"), torch.logsumexp(scores, -1)

    def _number(self, name: str) -> float:
        scale = self.options.get(name)
        return 1.0 if scale is None else float(scale)

    @property
    def _tolerance(self) -> float:
        tolerance = TOLERANCE[str(self.query.dtype).removeprefix("torch.")]
        float8 = FLOAT8_TOLERANCE * (self.key_cache.dtype in FLOAT8)
        return (tolerance + float8) * max(1.0, self._number("v_scale"))

    @property
    def _lse_tolerance(self) -> float:
        return FLOAT8_TOLERANCE if self.key_cache.dtype in FLOAT8 else 1e-4


def make_problem(
    device: torch.device,
    seq_lens: tuple[int, ...],
    heads: tuple[int, int] = (2, 1),
    head_size: int = 32,
    block_size: int = 16,
    dtype: torch.dtype = torch.float32,
    cache_dtype: torch.dtype | None = None,
    pool: Callable[..., Caches] = two_tensors,
    seed: int = 0,
    **options: Any,
) -> Problem:
    """Keys and queries are normal, values lie in [−1, 1]; the seed draws the block ids too."""
    random = torch.Generator().manual_seed(seed)
    num_heads, num_kv_heads = heads
    num_blocks = [-(-seq_len // block_size) for seq_len in seq_lens]
    ids = 1 + torch.randperm(
        sum(num_blocks) + 1, generator=random
    )  # 0 and the last are in no table
    tables = ids[:-1].split(num_blocks)
    sizes = (len(ids) + 1, block_size, num_kv_heads, head_size)
    caches = pool(*sizes, dtype=cache_dtype or dtype, device=device)
    contents: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])
    for cache, tokens in zip(caches, contents, strict=True):
        fill_nan(cache)
        for table, seq_len in zip(tables, seq_lens, strict=True):
            drawn = torch.randn(seq_len, num_kv_heads, head_size, generator=random)
            drawn = torch.tanh(drawn) if cache is caches[1] else drawn
            stored = drawn.to(cache.dtype)
            tokens.append(stored.double())
            write(cache, table, stored, options.get("sliding_window"))
    query = torch.randn(len(seq_lens), num_heads, head_size, generator=random).to(dtype)
    k_scale = options.get("k_scale")
    return Problem(
        query.to(device),
        *caches,
        pad(tables, int(ids[0])).to(device),
        torch.tensor(seq_lens, dtype=torch.int32, device=device),
        head_size**-0.5 / (1.0 if k_scale is None else float(k_scale)),  # scores about 1
        options,
        *(tuple(tokens) for tokens in contents),
    )


def fill_nan(cache: torch.Tensor) -> None:
    """In place; float8 has no `fill_` of its own everywhere."""
    if cache.dtype in FLOAT8:
        cache.view(torch.uint8).fill_(NAN_CODE)
    else:
        cache.fill_(torch.nan)


def write(
    cache: torch.Tensor, table: torch.Tensor, tokens: torch.Tensor, window: int | None = None
) -> None:
    """Put a sequence's tokens into its slots, but for those before the window."""
    token = torch.arange(max(0, len(tokens) - (window or len(tokens))), len(tokens))
    block, slot = (
        x.to(cache.device) for x in (table[token // cache.shape[1]], token % cache.shape[1])
    )
    bits = torch.uint8 if cache.dtype in FLOAT8 else cache.dtype
    cache.view(bits)[block, slot] = tokens.view(bits)[token].to(cache.device)


def pad(tables: tuple[torch.Tensor, ...], living: int) -> torch.Tensor:
    """Tables as one tensor, a column wider than the longest, padded with every kind of wrong id."""
    width = 1 + max(map(len, tables), default=0)
    padding = cycle((*PADDING, living))
    rows = [[*table.tolist(), *islice(padding, width - len(table))] for table in tables]
    return torch.tensor(rows, dtype=torch.int32).view(len(tables), width)


def tiled(tile_size: int, programs_per_sm: int = 1) -> Config:
    """A config with tiles of so many tokens."""
    return Config(tile_size, 4, 2, programs_per_sm)


def split(problem: Problem, num_splits: int, tile_size: int = 16) -> Plan:
    """The plan that cuts every sequence into so many splits, on every device."""
    num_units = len(problem.query) * problem.key_cache.shape[2]
    config = tiled(tile_size, num_splits * num_units)  # room for them all
    return plan_evenly(problem.query, problem.key_cache, num_splits * tile_size, config)


def poison(plan: Plan) -> None:
    """Fill the room for partial results with NaN."""
    for partial in (plan.partial_out, plan.partial_state):
        if partial is not None:
            partial.fill_(torch.nan)


@contextmanager
def poisoned_memory() -> Iterator[None]:
    """Whatever torch hands out uninitialised holds NaN: its deterministic mode does that."""
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)
