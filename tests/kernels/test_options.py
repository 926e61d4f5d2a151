"""Sliding window, soft cap, ALiBi and LSE of the paged decode kernel, each alone and together."""

import math
from dataclasses import replace

import pytest
import torch

from kernels.decode import plan_decode
from kernels.plan import plan_evenly
from tests.kernels.problem import make_problem, split, tiled

LENGTHS = (0, 17, 50, 81)


def slopes(num_heads, device):
    """Steep, unlike each other, and one of them negative."""
    return torch.tensor([0.5 * (-0.7) ** head for head in range(num_heads)], device=device)


@pytest.mark.parametrize("num_splits", [1, 2])
@pytest.mark.parametrize("window", [1, 16, 17, 50, 51, 1000])
def test_a_window_keeps_the_last_tokens(torch_dev, window, num_splits):
    """vllm#3385, sglang#32087, tokenspeed#578: W tokens, the current one included, not W + 1.

    All before the window is NaN in the cache."""
    problem = make_problem(torch_dev, LENGTHS, (1, 1), block_size=4, sliding_window=window)

    assert problem.worst(plan=split(problem, num_splits)) <= 1


def test_the_first_token_of_a_window_has_its_weight(torch_dev):
    """By hand: 128 of 130 tokens, all scores alike; a value lies on both sides of each edge."""
    problem = make_problem(torch_dev, (130,), (1, 1), block_size=16)
    query = torch.zeros_like(problem.query)
    table = problem.block_tables[0].long()
    problem.value_cache[table[:9]] = 0.0
    problem.value_cache[table[0], 1] = 1000.0  # token 1 is outside
    problem.value_cache[table[0], 2] = 1.0  # token 2 is the first inside
    problem.value_cache[table[8], 1] = 1.0  # token 129 is the current one

    out, lse = problem.attend(query=query, sliding_window=128, plan=split(problem, 1))

    assert torch.allclose(out, torch.full_like(out, 2 / 128))
    assert lse.item() == pytest.approx(math.log(128))


@pytest.mark.parametrize("programs_per_sm", [1, 3])
@pytest.mark.parametrize("window", [20, 33])
def test_a_planned_window(torch_dev, window, programs_per_sm):
    problem = make_problem(torch_dev, LENGTHS, (1, 1), block_size=4, sliding_window=window)
    step = (problem.query, problem.key_cache)
    config = tiled(16, programs_per_sm)
    plan = plan_decode(*step, problem.seq_lens, sliding_window=window, config=config)

    assert problem.worst(plan=plan) <= 1
    assert problem.worst(plan=plan_evenly(*step, 81, config)) <= 1


@pytest.mark.parametrize("num_splits", [1, 2])
@pytest.mark.parametrize("soft_cap", [0.5, 3.0, 30.0])
def test_a_soft_cap(torch_dev, soft_cap, num_splits):
    """Scores to about ±200, so that the cap holds them."""
    problem = make_problem(torch_dev, (1, 40), (3, 1), soft_cap=soft_cap)
    steep = replace(problem, scale=50 * problem.scale)

    assert problem.worst(plan=split(problem, num_splits)) <= 1
    assert steep.worst(plan=split(problem, num_splits)) <= 4  # scores 50 times as large


@pytest.mark.parametrize("num_splits", [1, 2])
@pytest.mark.parametrize("heads", [(7, 1), (6, 2)])
def test_alibi(torch_dev, heads, num_splits):
    """A slope of its own for each query head, times the distance from the current token."""
    alibi = slopes(heads[0], torch_dev)
    problem = make_problem(torch_dev, (17, 40), heads, alibi_slopes=alibi)

    assert problem.worst(plan=split(problem, num_splits)) <= 1


@pytest.mark.parametrize("num_splits", [1, 3])
@pytest.mark.parametrize("cache_dtype", [None, torch.float8_e4m3fn, torch.float8_e5m2])
def test_all_together(torch_dev, cache_dtype, num_splits):
    options = {"sliding_window": 37, "soft_cap": 2.0, "alibi_slopes": slopes(6, torch_dev)}
    scales = {} if cache_dtype is None else {"k_scale": 0.5, "v_scale": 2.0}
    problem = make_problem(
        torch_dev, (37, 70), (6, 2), cache_dtype=cache_dtype, **options, **scales
    )

    assert problem.worst(plan=split(problem, num_splits)) <= 1


@pytest.mark.parametrize("num_splits", [1, 3])
def test_lse_of_very_negative_scores(torch_dev, num_splits):
    """Scores near −1,500, where exp without the maximum would be 0."""
    problem = make_problem(torch_dev, (20, 40), (1, 1))
    alibi = torch.zeros(1, device=torch_dev)
    query = torch.zeros_like(problem.query)
    query[..., 0] = -1e3
    problem.key_cache[..., 0] = torch.where(torch.isnan(problem.key_cache[..., 0]), torch.nan, 1.5)
    far = replace(problem, query=query, scale=1.0, options={"alibi_slopes": alibi})

    _, lse = far.attend(plan=split(problem, num_splits))

    expected = torch.tensor([[math.log(20) - 1500], [math.log(40) - 1500]], device=torch_dev)
    assert torch.allclose(lse, expected, rtol=1e-6, atol=0)
