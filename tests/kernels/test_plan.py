"""The work plan, against what it promises, for lengths drawn by hypothesis."""

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kernels.config import num_sms
from kernels.decode import plan_decode
from kernels.plan import COLUMNS, NO_WINDOW, ROWS, plan_evenly
from tests.kernels.problem import make_problem, poison, poisoned_memory, tiled

TILE_SIZE = 16

lengths_of_steps = st.lists(
    st.one_of(st.integers(0, 3 * TILE_SIZE + 1), st.integers(0, 2000)), min_size=2, max_size=12
)
windows = st.one_of(st.none(), st.integers(1, 100))


def make_plan(device, seq_lens, window=None, slots=4):
    """A plan for sequences with no cache: lengths alone decide, and how many items run at once."""
    num_kv_heads = num_sms(device)  # so that `slots` programs an SM are `slots` items
    query = torch.zeros(1, 1, 1, device=device).expand(len(seq_lens), num_kv_heads, 1)
    key_cache = torch.zeros(1, 1, num_kv_heads, 1, device=device)
    lengths = torch.tensor(seq_lens, dtype=torch.int32, device=device)
    config = tiled(TILE_SIZE, slots)
    with poisoned_memory():  # an entry that nobody writes must say: nothing to do
        return plan_decode(query, key_cache, lengths, sliding_window=window, config=config)


def tiles_of(seq_len, window=None):
    """Tiles that hold a token which is read."""
    first = max(0, seq_len - (window or NO_WINDOW.value))
    return len({token // TILE_SIZE for token in range(first, seq_len)})


def splits_of(plan):
    """Sequence → its number of splits, from items that are there once each, and in order."""
    rows = [tuple(row) for row in plan.items.tolist()]
    items = [row for row in rows if row[2]]
    assert rows[len(items) :] == [(0, 0, 0)] * (len(rows) - len(items))
    splits = {seq: num_splits for seq, _, num_splits in items}
    every = sorted((seq, split, n) for seq, n in splits.items() for split in range(n))
    assert sorted(items) == every
    return splits


@settings(max_examples=20)
@given(lengths_of_steps, windows, st.integers(1, 48))
@example([0, 0, 0], None, 4)
@example([2000, 1, 1, 1, 1, 1, 1, 1], None, 4)
@example([700] * 5, None, 4)
@example([700] * 4, None, 4)
@example([700, 700], 1, 48)
def test_items_cover_every_tile_once(torch_dev, seq_lens, window, slots):
    plan = make_plan(torch_dev, seq_lens, window, slots)
    splits = splits_of(plan)
    tiles = [tiles_of(seq_len, window) for seq_len in seq_lens]
    items = [row for row in plan.items.tolist() if row[2]]

    assert sorted(splits) == list(range(len(seq_lens)))  # an empty sequence has its item too
    assert all(1 <= splits[seq] <= max(1, tiles[seq]) for seq in splits)  # no item is empty
    spans = [-(-tiles[seq] // num_splits) for seq, _, num_splits in items]
    assert spans == sorted(spans, reverse=True)  # longest first

    firsts = [items.index([seq, 0, splits[seq]]) for seq in splits]
    for seq, first in zip(splits, firsts, strict=True):  # a sequence's items follow each other
        there = items[first : first + splits[seq]]
        assert there == [[seq, split, splits[seq]] for split in range(splits[seq])]


@settings(max_examples=12)
@given(lengths_of_steps, windows, st.integers(1, 48))
@example([3 * TILE_SIZE, 17 * TILE_SIZE], None, 5)
@example([50 * TILE_SIZE, 55 * TILE_SIZE], None, 9)
@example([800] * 5, None, 4)
@example([800, 800, 750], None, 4)
@example([800, 20, 0, 1], None, 4)
def test_as_many_items_as_run_at_once(torch_dev, seq_lens, window, slots):
    """Few sequences: the smallest chunk for one wave. Else total / slots, or whole sequences."""
    plan = make_plan(torch_dev, seq_lens, window, slots)
    tiles = [tiles_of(seq_len, window) for seq_len in seq_lens]

    def cut(chunk):
        return [max(1, -(-num // chunk)) for num in tiles]

    longest = max(1, *tiles)
    alike = longest * 7 <= min(tiles) * 8
    chunk = max(1, -(-sum(tiles) // slots))
    if 2 * len(tiles) <= slots or (alike and len(tiles) <= slots):
        chunk = next(c for c in range(1, longest + 1) if sum(cut(c)) <= slots)
    elif alike:
        chunk = longest

    assert splits_of(plan) == dict(enumerate(cut(chunk)))


def test_more_sequences_than_a_program_places_or_compares(torch_dev):
    seq_lens = [(37 * seq) % 130 for seq in range(2 * COLUMNS + ROWS + 5)]
    seq_lens[200] = 3000
    plan = make_plan(torch_dev, seq_lens, slots=64)
    splits = splits_of(plan)

    assert sorted(splits) == list(range(len(seq_lens)))
    spans = [-(-tiles_of(seq_lens[seq]) // n) for seq, _, n in plan.items.tolist() if n]
    assert spans == sorted(spans, reverse=True)
    assert [seq for seq, n in splits.items() if n > 1] == [200]


def test_a_plan_is_the_same_every_time(torch_dev):
    seq_lens = [5, 800, 0, 31, 5, 64, 1000, 1000]
    first, second = (make_plan(torch_dev, seq_lens, slots=16) for _ in range(2))

    assert torch.equal(first.items, second.items)


def test_sizes_do_not_depend_on_lengths(torch_dev):
    """So a CUDA graph may hold the plan; room is by sequences, not by tokens: vllm#17438."""
    for slots in (4, 32):
        short, long = (make_plan(torch_dev, [seq_len] * 5, None, slots) for seq_len in (1, 5000))
        for name in ("items", "counters", "partial_out", "partial_state"):
            assert getattr(short, name).shape == getattr(long, name).shape
        assert short.num_items == long.num_items


def test_one_sequence_needs_no_plan(torch_dev):
    assert make_plan(torch_dev, [1000]) is None


@pytest.mark.parametrize("max_seq_len", [0, 1, 16, 17, 1000])
def test_an_even_plan_has_no_split_without_a_tile(torch_dev, max_seq_len):
    problem = make_problem(torch_dev, (1, 1), (1, 1))
    plan = plan_evenly(problem.query, problem.key_cache, max_seq_len, tiled(TILE_SIZE))

    assert 1 <= plan.num_splits <= max(1, tiles_of(max_seq_len))
    assert plan.num_items == 2 * plan.num_splits
    assert (plan.partial_out is None) == (plan.num_splits == 1)


@pytest.mark.parametrize("seq_lens", [(0, 0), (100, 0), (9, 90, 0, 17), (40, 40, 40, 39, 40)])
@pytest.mark.parametrize("programs_per_sm", [1, 3])
def test_any_plan_gives_the_answer(torch_dev, device, seq_lens, programs_per_sm):
    """Lengths grow with the device, so that a GPU's many slots have something to split."""
    seq_lens = tuple(seq_len * (40 if device.kind == "gpu" else 1) for seq_len in seq_lens)
    problem = make_problem(torch_dev, seq_lens, (4, 2), block_size=4)
    config = tiled(TILE_SIZE, programs_per_sm)
    plan = plan_decode(problem.query, problem.key_cache, problem.seq_lens, config=config)

    assert problem.worst(plan=plan) <= 1


def test_a_plan_serves_every_layer(torch_dev):
    """Room for partial results is used again, whatever the last call left there; what counts the
    splits that are done is 0 again after each."""
    layers = [make_problem(torch_dev, (9, 90), (1, 1), seed=seed) for seed in range(2)]
    config = tiled(TILE_SIZE, 2)
    plan = plan_decode(layers[0].query, layers[0].key_cache, layers[0].seq_lens, config=config)
    poison(plan)

    for layer in (*layers, layers[0]):
        assert layer.worst(plan=plan) <= 1
        assert not plan.counters.any()
