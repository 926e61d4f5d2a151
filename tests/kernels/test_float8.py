"""A float8 cache: every code, scales, layouts; the tokens' values are what the codes stand for."""

from dataclasses import replace

import pytest
import torch

from tests.kernels.problem import FLOAT8, make_problem, split

pytestmark = pytest.mark.parametrize("cache_dtype", FLOAT8, ids=("e4m3", "e5m2"))


def codes(cache_dtype):
    """All 256 codes, and what they stand for; those that are no number as 0."""
    every = torch.arange(256, dtype=torch.int16).to(torch.uint8)
    numbers = every.view(cache_dtype).double()
    every = torch.where(torch.isfinite(numbers), every, 0)
    return every, every.view(cache_dtype).double()


@pytest.mark.parametrize("scale", [0.5, 2.0, 7.0])
@pytest.mark.parametrize("as_tensor", [False, True])
def test_both_scales_are_applied(torch_dev, cache_dtype, scale, as_tensor):
    """vllm#42580, sglang#18882: each for itself, a number or a tensor on the device."""

    def made(number):
        return torch.tensor([number], device=torch_dev) if as_tensor else number

    scales = {"k_scale": made(scale), "v_scale": made(9 - scale)}
    problem = make_problem(torch_dev, (0, 33), cache_dtype=cache_dtype, **scales)

    assert problem.worst(plan=split(problem, 2)) <= 1


@pytest.mark.parametrize("name", ["k_scale", "v_scale"])
def test_a_scale_alone(torch_dev, cache_dtype, name):
    problem = make_problem(torch_dev, (5, 33), cache_dtype=cache_dtype, **{name: 7.0})

    assert problem.worst(plan=split(problem, 1)) <= 1


@pytest.mark.parametrize("num_splits", [1, 2])
def test_every_code_as_a_value(torch_dev, cache_dtype, num_splits):
    """One token, whose weight is 1: the output is its values exactly."""
    problem = make_problem(torch_dev, (1,), (1, 1), 256, cache_dtype=cache_dtype, v_scale=2.0)
    every, numbers = codes(cache_dtype)
    problem.value_cache.view(torch.uint8)[problem.block_tables[0, 0], 0, 0] = every.to(torch_dev)

    out, _ = problem.attend(plan=split(problem, num_splits))

    assert torch.equal(out[0, 0].double().cpu(), numbers * 2)


def test_every_code_as_a_key(torch_dev, cache_dtype):
    """Query head h of sequence i is one-hot at 32 · i + h: its LSE is that number's score."""
    problem = make_problem(torch_dev, (1,) * 8, (32, 1), 256, cache_dtype=cache_dtype)
    every, numbers = codes(cache_dtype)
    blocks = problem.block_tables[:, 0].long()
    problem.key_cache.view(torch.uint8)[blocks, 0, 0] = every.to(torch_dev)
    query = torch.eye(256, device=torch_dev).view(8, 32, 256)

    _, lse = replace(problem, scale=0.25).attend(query=query, plan=split(problem, 1))

    assert torch.allclose(lse.flatten().double().cpu(), numbers * 0.25, rtol=1e-6, atol=0)


@pytest.mark.parametrize("query_dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("head_size", [32, 80, 96, 128])
def test_queries_of_16_bits_and_heads_of_any_size(torch_dev, cache_dtype, query_dtype, head_size):
    problem = make_problem(
        torch_dev, (40,), (7, 1), head_size, 4, query_dtype, cache_dtype, k_scale=2.0
    )

    assert problem.worst(plan=split(problem, 2)) <= 1


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_queries_past_the_range_of_float16(torch_dev, cache_dtype, size):
    problem = make_problem(torch_dev, (3, 40), (3, 1), cache_dtype=cache_dtype)
    query = problem.query * size

    assert replace(problem, query=query, scale=problem.scale / size).worst() <= 1


def test_a_query_of_zeros_takes_the_mean(torch_dev, cache_dtype):
    problem = make_problem(torch_dev, (3, 40), (3, 1), cache_dtype=cache_dtype)

    assert replace(problem, query=torch.zeros_like(problem.query)).worst() <= 1


@pytest.mark.parametrize("block_size", [1, 3, 16, 64])
def test_any_block_size(torch_dev, cache_dtype, block_size):
    problem = make_problem(torch_dev, (0, 65), (4, 2), 32, block_size, cache_dtype=cache_dtype)

    assert problem.worst(plan=split(problem, 1, 32)) <= 1


def test_packed_keys_and_values(torch_dev, cache_dtype):
    def packed(num_blocks, block_size, num_kv_heads, head_size, **options):
        pool = torch.empty(num_blocks, num_kv_heads, block_size, 2 * head_size + 2, **options)
        key, value, _ = pool.transpose(1, 2).split((head_size, head_size, 2), -1)
        return key, value

    problem = make_problem(torch_dev, (3, 40), (4, 2), pool=packed, cache_dtype=cache_dtype)

    assert problem.worst(plan=split(problem, 2)) <= 1
