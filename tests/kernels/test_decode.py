"""The paged decode kernel against float64: lengths, block sizes, ratios and sizes of heads.

What a problem poisons (tests/kernels/problem.py) shows as NaN in the output if it is read.
"""

import pytest
import torch

from kernels import reference
from kernels.decode import paged_attention, plan_decode
from kernels.inputs import make_inputs
from kernels.job import TOLERANCE
from kernels.parity import float64_reference
from kernels.plan import plan_evenly
from kernels.presets import lesson
from tests.kernels.problem import make_problem, split, tiled


@pytest.mark.parametrize("block_size", [1, 3, 4, 8, 16, 48, 64])
def test_lengths_around_blocks_and_tiles(torch_dev, block_size):
    """vllm#41339: blocks of fewer than 16 tokens; vllm#37442: empty sequences among others."""
    edges = {size + i for size in (min(block_size, 48), 16, 32) for i in (-1, 0, 1)}
    lengths = (0, 1, *sorted(edges), 0)
    problem = make_problem(torch_dev, lengths, (1, 1), block_size=block_size)

    assert problem.worst(plan=split(problem, 1)) <= 1


@pytest.mark.parametrize("tile_size", [32, 64, 128])
@pytest.mark.parametrize("block_size", [1, 3, 16, 48, 64, 128])
def test_any_tile_over_any_block(torch_dev, block_size, tile_size):
    """Tiles smaller than a block, equal, larger, and not dividing it: flashinfer#4347, #4365."""
    problem = make_problem(torch_dev, (2 * tile_size + 1, tile_size), (1, 1), block_size=block_size)

    assert problem.worst(plan=split(problem, 1, tile_size)) <= 1


@pytest.mark.parametrize("block_size", [257, 2048])
def test_large_blocks(torch_dev, block_size):
    lengths = (block_size - 1, block_size, block_size + 1)
    problem = make_problem(torch_dev, lengths, (1, 1), block_size=block_size)

    assert problem.worst(plan=split(problem, 2, 128)) <= 1


@pytest.mark.parametrize("plan", [plan_decode, plan_evenly])
def test_lengths_around_the_classic_partitions(torch_dev, plan):
    problem = make_problem(torch_dev, (511, 1025, 512, 513, 1023, 0, 1024), (1, 1))
    lengths = problem.seq_lens if plan is plan_decode else 1025
    made = plan(problem.query, problem.key_cache, lengths, config=tiled(64, 4))

    assert problem.worst(plan=made) <= 1


@pytest.mark.parametrize("block_size", [1, 16, 100])
def test_what_a_call_chooses_itself(torch_dev, dtype, block_size):
    problem = make_problem(torch_dev, (33, 0, 70), (2, 1), 32, block_size, getattr(torch, dtype))

    assert problem.worst() <= 1
    assert problem.worst(max_seq_len=70) <= 1


@pytest.mark.parametrize("num_splits", [1, 2, 3, 6])
def test_every_split_edge(torch_dev, num_splits):
    """Lengths that give a split no tile, one, or one more than its neighbour."""
    problem = make_problem(torch_dev, (0, 1, 33, 48, 81), (1, 1), block_size=4)

    assert problem.worst(plan=split(problem, num_splits)) <= 1


def test_more_splits_than_are_merged_at_once(torch_dev):
    """Later scores are larger, so that the last partial results weigh most."""
    slopes = torch.tensor([0.1], device=torch_dev)
    problem = make_problem(torch_dev, (273,), (1, 1), alibi_slopes=slopes)

    assert problem.worst(plan=split(problem, 18)) <= 1


@pytest.mark.parametrize(
    "heads", [(3, 3), (4, 2), (6, 2), (4, 1), (12, 2), (14, 2), (8, 1), (16, 1), (32, 1), (5, 1)]
)
def test_query_heads_of_any_ratio(torch_dev, heads):
    """vllm#47248: 7 query heads a KV head must not reach into the next group; ratio 6 compiles
    (Sandermage/genesis-vllm-patches#7)."""
    problem = make_problem(torch_dev, (21,), heads, block_size=4)

    assert problem.worst(plan=split(problem, 1)) <= 1
    assert problem.worst(plan=split(problem, 2)) <= 1


@pytest.mark.parametrize("head_size", [1, 4, 20, 64, 80, 96, 128, 256])
def test_heads_of_any_size(torch_dev, dtype, head_size):
    """Sizes that are padded in the kernel, and those that are not: Triton-distributed#202,
    turboquant-vllm#52, triton#621."""
    problem = make_problem(torch_dev, (37,), (4, 2), head_size, dtype=getattr(torch, dtype))

    assert problem.worst(plan=split(problem, 2)) <= 1


@pytest.mark.parametrize("num_splits", [1, 2])
def test_bfloat16_where_the_interpreter_would_multiply_its_bits(torch_dev, num_splits):
    """triton#4972, #11584: bfloat16 numbers, stored, read and computed with on every device."""
    problem = make_problem(torch_dev, (0, 40), (7, 1), 80, dtype=torch.bfloat16)

    assert problem.worst(plan=split(problem, num_splits)) <= 1


@pytest.mark.parametrize("block_size", [1, 3, 16, 48])
@pytest.mark.parametrize("num_splits", [1, 4])
def test_the_weight_of_every_token(torch_dev, block_size, num_splits):
    """One-hot values: a token that is missed, or read twice, shows, however small its weight."""
    num_tokens = 250
    problem = make_problem(torch_dev, (num_tokens,), (2, 1), 256, block_size)
    one_hot = torch.eye(num_tokens, 256, device=torch_dev)
    table = problem.block_tables[0].long()
    token = torch.arange(num_tokens, device=torch_dev)
    place = (table[token // block_size], token % block_size)
    problem.value_cache[*place, 0] = one_hot

    out, _ = problem.attend(plan=split(problem, num_splits, 32))
    scores = problem.query[0].double().cpu() @ problem.keys[0][:, 0].T * problem.scale
    weights = torch.softmax(scores, -1)

    assert torch.allclose(out[0, :, :num_tokens].double().cpu(), weights, rtol=1e-5, atol=0)
    assert out[0, :, num_tokens:].abs().max() == 0


@pytest.mark.parametrize("num_splits", [1, 3])
def test_scores_that_grow_and_are_large(torch_dev, num_splits):
    """Each tile is the maximum by far, and rescales all before it."""
    problem = make_problem(torch_dev, (200,), block_size=16)
    rise = torch.linspace(0.1, 100.0, 200)
    table = problem.block_tables[0].long().cpu()
    token = torch.arange(200)
    place = (table[token // 16].to(torch_dev), (token % 16).to(torch_dev))
    problem.key_cache[place] *= rise[:, None, None].to(torch_dev)
    problem.keys[0].copy_(problem.key_cache[place])

    out, _ = problem.attend(plan=split(problem, num_splits, 32))

    assert (out.double().cpu() - problem.answer()[0]).abs().max() <= 1e-4  # scores · 2⁻²⁴ is 3e-5


def test_all_lengths_zero(torch_dev):
    """vllm#38436, #37815: zeros, not what the buffer held; the tables may have no column."""
    problem = make_problem(torch_dev, (0, 0, 0))
    planned = plan_decode(problem.query, problem.key_cache, problem.seq_lens)
    for changes in ({}, {"plan": planned}, {"block_tables": problem.block_tables[:, :0]}):
        out, lse = problem.attend(**changes)
        assert torch.equal(out, torch.zeros_like(out))
        assert torch.equal(lse, torch.full_like(lse, -torch.inf))


def test_no_sequences_is_no_work(torch_dev):
    problem = make_problem(torch_dev, (3,))
    nothing = {name: getattr(problem, name)[:0] for name in ("query", "block_tables", "seq_lens")}
    plan = plan_decode(nothing["query"], problem.key_cache, nothing["seq_lens"])

    out, lse = problem.attend(**nothing, lse=None, out=None, plan=plan)

    assert (out.shape, lse, plan) == ((0, 2, 32), None, None)


def test_the_lesson(torch_dev):
    """The six tokens of the lesson, written and read, against float64 that sees only the tokens."""
    inputs = make_inputs(lesson(), reference.reshape_and_cache_flash, torch_dev)
    caches = (inputs.key_cache, inputs.value_cache)
    out = paged_attention(inputs.query, *caches, inputs.block_tables, inputs.seq_lens, inputs.scale)

    assert (out.double() - float64_reference(inputs)).abs().max() <= TOLERANCE["float32"]
