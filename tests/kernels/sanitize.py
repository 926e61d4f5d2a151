"""`python -m tests.kernels.sanitize`: every kernel once on tiny inputs, for compute-sanitizer.

    export PYTORCH_NO_CUDA_MEMORY_CACHING=1
    python -m tests.kernels.sanitize  # compiles, so that the sanitizer need not
    compute-sanitizer --tool memcheck python -m tests.kernels.sanitize
    compute-sanitizer --tool racecheck python -m tests.kernels.sanitize

Pools and tables end where the last block in use does, and torch caches no memory, so that a read
past one is a read past an allocation. Without a GPU it runs in Triton's interpreter.
"""

from dataclasses import replace

import torch

from kernels.device import find_device, torch_device

DEVICE = torch_device(find_device())  # before Triton is imported

from kernels.cache_layout import split_kv_cache  # noqa: E402
from kernels.cache_write import reshape_and_cache, reshape_and_cache_flash  # noqa: E402
from kernels.classic import paged_attention_v1, paged_attention_v2  # noqa: E402
from kernels.decode import plan_decode  # noqa: E402
from kernels.flight import make_flight  # noqa: E402
from tests.kernels.problem import FLOAT8, Problem, make_problem, poison, split, tiled  # noqa: E402

LENGTHS = (33, 0, 1, 128, 80)
ALIBI = torch.tensor([0.5, 0.25, 0.125, 0.0625], device=DEVICE)
REGIMES = (  # what differs from four heads over two, 80 numbers each, blocks of 16
    {},
    {"dtype": torch.float16},
    {"dtype": torch.bfloat16, "head_size": 128, "block_size": 64},
    {"dtype": torch.float16, "block_size": 3, "sliding_window": 40},
    {"dtype": torch.float16, "block_size": 1, "soft_cap": 5.0, "alibi_slopes": ALIBI},
    {"dtype": torch.float16, "cache_dtype": FLOAT8[0], "k_scale": 2.0, "v_scale": 0.5},
    {"dtype": torch.float16, "cache_dtype": FLOAT8[1], "sliding_window": 40},
)


def exact(problem: Problem) -> Problem:
    """The same with nothing behind the last block in use, nor behind the longest table."""
    block_size = problem.key_cache.shape[1]
    width = -(-int(problem.seq_lens.max()) // block_size)
    used = [
        block_id
        for row, seq_len in zip(
            problem.block_tables.tolist(), problem.seq_lens.tolist(), strict=True
        )
        for block_id in row[: -(-seq_len // block_size)]
    ]
    return replace(
        problem,
        key_cache=problem.key_cache[: max(used) + 1].clone(),
        value_cache=problem.value_cache[: max(used) + 1].clone(),
        block_tables=problem.block_tables[:, :width].clone(),
    )


def decode(problem: Problem) -> None:
    """As the call chooses, whole, split, planned for few programs and for many; recorded once."""
    step = (problem.query, problem.key_cache, problem.seq_lens)
    window = problem.options.get("sliding_window")
    plans = [None, split(problem, 1, 32), split(problem, 3, 32)]
    for programs_per_sm in (1, 4):
        config = tiled(16, programs_per_sm)
        plans.append(plan_decode(*step, sliding_window=window, config=config))
    plans.append(plan_decode(*step, sliding_window=window))
    for plan in plans:
        expect(problem.worst(plan=plan), f"decode {problem.options}")
    poison(plans[1])
    expect(problem.worst(plan=plans[1], flight=make_flight(*step[:2], plans[1], 128)), "flight")


def classic(dtype: torch.dtype) -> None:
    """Both writers, and the reads of the x-split layout."""
    problem = exact(make_problem(DEVICE, LENGTHS, (4, 2), 32, dtype=dtype))
    num_blocks, block_size, num_kv_heads, head_size = problem.key_cache.shape
    slots, keys, values = written(problem)
    flat = torch.full(
        (2, num_blocks, block_size * num_kv_heads * head_size), torch.nan, dtype=dtype
    )
    caches = split_kv_cache(flat.to(DEVICE), num_kv_heads, head_size)
    reshape_and_cache(keys, values, *caches, slots)
    problem.key_cache.fill_(torch.nan)
    problem.value_cache.fill_(torch.nan)
    reshape_and_cache_flash(keys, values, problem.key_cache, problem.value_cache, slots)
    expect(problem.worst(), "reshape_and_cache_flash")
    step = (problem.query, *caches, problem.block_tables, problem.seq_lens, problem.scale)
    right, _ = problem.answer()
    for attend in (paged_attention_v1, paged_attention_v2):
        for two_pass in (False, True):
            error = (attend(*step, two_pass=two_pass).double().cpu() - right).abs().max().item()
            expect(error / 4e-3, attend.__name__)


def written(problem: Problem) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Slots, keys and values of every token, one sequence after the other."""
    block_size = problem.key_cache.shape[1]
    slots = []
    for table, seq_len in zip(problem.block_tables.cpu(), problem.seq_lens.tolist(), strict=True):
        token = torch.arange(seq_len)
        slots.append(table[token // block_size].long() * block_size + token % block_size)
    tokens = (torch.cat(each).to(problem.query.dtype) for each in (problem.keys, problem.values))
    return torch.cat(slots).to(DEVICE), *(token.to(DEVICE) for token in tokens)


def expect(worst: float, name: str) -> None:
    """Stop at a wrong result."""
    if not worst <= 1:
        raise SystemExit(f"{name} is wrong: {worst} of what is tolerated")


def main() -> None:
    """Run everything."""
    for regime in REGIMES:
        sizes = {"heads": (4, 2), "head_size": 80} | regime
        decode(exact(make_problem(DEVICE, LENGTHS, **sizes)))
    for dtype in (torch.float32, torch.float16):
        classic(dtype)
    print("all kernels ran")


if __name__ == "__main__":
    main()
