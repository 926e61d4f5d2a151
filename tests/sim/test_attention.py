"""Paged attention is dense attention: by hand, for any shape, with NaN wherever nobody wrote."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.attention import (
    BlockVisited,
    TokenWritten,
    attend,
    dense_attention,
    empty_pool,
    paged_attention,
    slot_mapping,
    write_through,
    written_pool,
)
from sim.attention_input import LESSON, AttentionInput, random_input

ORDERS = ("scattered", "reversed", "in order")


@st.composite
def inputs(draw):
    num_kv_heads = draw(st.integers(1, 3))
    numbers = random_input(
        draw(st.integers(0, 2**32)),
        draw(st.integers(1, 24)),
        draw(st.integers(1, 5)),
        num_kv_heads * draw(st.integers(1, 3)),
        num_kv_heads,
    )
    return numbers.placed(draw(st.integers(1, 30)), draw(st.sampled_from(ORDERS)), 7)


def test_lesson_prints_the_published_numbers_for_paged_and_dense():
    (walk,) = attend(LESSON)

    assert [round(x, 6) for x in walk.output] == [0.363083, 0.449897, 0.392487, 0.386499]
    assert [round(x, 6) for x in walk.dense] == [0.363083, 0.449897, 0.392487, 0.386499]
    assert walk.error(walk.output) <= 2.3e-16


def test_lesson_visits_block_3_then_1_and_reads_six_slots():
    (walk,) = attend(LESSON)

    assert walk.visits == [BlockVisited(0, 3), BlockVisited(1, 1)]
    assert [type(e).__name__ for e in walk.events] == [
        "BlockVisited", *["TokenFolded"] * 4, "BlockVisited", *["TokenFolded"] * 2
    ]  # fmt: skip
    places = [(f.position, f.block_id, f.offset) for f in walk.folds]
    assert places == [(0, 3, 0), (1, 3, 1), (2, 3, 2), (3, 3, 3), (4, 1, 0), (5, 1, 1)]


def test_fold_by_hand():
    """q·k/√1 is 0, then ln 2, then 0: the second token halves what was carried."""
    one = AttentionInput([[1.0]], [[[0.0], [math.log(2)], [0.0]]], [[[1.0], [4.0], [8.0]]],
                         (2, 1), 2, 3)  # fmt: skip
    (walk,) = attend(one)
    first, second, third = walk.folds

    assert (first.m_old, first.m, first.corr, first.p) == (-math.inf, 0, 0, 1)
    assert (first.l, first.acc) == (1, (1,))
    assert (second.m_old, second.m, second.corr, second.p) == (0, math.log(2), 0.5, 1)
    assert (second.l, second.acc) == (1.5, (4.5,))
    assert (third.m, third.corr, third.p) == (math.log(2), 1, 0.5)
    assert (third.l, third.acc) == (2, (8.5,))
    assert walk.output == third.output == [4.25]


def test_score_is_scaled_by_the_root_of_the_head_size():
    numbers = AttentionInput([[1.0] * 4], [[[2.0] * 4]], [[[1.0, 2.0, 3.0, 4.0]]], (1,), 4, 2)
    (walk,) = attend(numbers)

    assert walk.folds[0].s == 4
    assert walk.output == [1, 2, 3, 4]


def test_write_path_by_hand():
    pool = empty_pool(5, 4, 1)
    slots = slot_mapping((3, 1), 6, 4)
    written = write_through(slots, [[float(i)] for i in range(6)], pool)

    assert slots == [12, 13, 14, 15, 4, 5]
    assert written[0] == TokenWritten(0, 12, 3, 0)
    assert written[5] == TokenWritten(5, 5, 1, 1)
    assert pool[3] == [[0], [1], [2], [3]]
    assert pool[1][:2] == [[4], [5]]
    unwritten = [*pool[0], *pool[1][2:], *pool[2], *pool[4]]
    assert len(unwritten) == 14
    assert all(math.isnan(slot[0]) for slot in unwritten)


@given(inputs())
@settings(deadline=None)
def test_paged_equals_dense_for_any_block_size_order_and_gqa(case):
    for walk in attend(case):
        assert walk.error(walk.output) <= 1e-12


@given(inputs())
@settings(deadline=None)
def test_state_is_the_softmax_of_the_tokens_so_far(case):
    """After n tokens m, l and acc are what one pass over those n scores would give."""
    for walk in attend(case):
        scores: list[float] = []
        for n, fold in enumerate(walk.folds):
            scores.append(fold.s)
            m = max(scores)
            assert fold.position == n
            assert fold.m == m
            assert fold.corr == math.exp(fold.m_old - m)
            assert fold.p == math.exp(fold.s - m)
            assert fold.l == pytest.approx(sum(math.exp(s - m) for s in scores), rel=1e-12)
        assert walk.folds[-1].output == walk.output


@given(inputs(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_block_ids_change_no_bit_of_any_state(case, rng):
    """Only the places may change when the physical ids are permuted."""
    table = tuple(rng.sample(range(case.num_blocks), len(case.block_table)))
    moved = attend(replace(case, block_table=table))

    for here, there in zip(attend(case), moved, strict=True):
        state = [(f.s, f.m_old, f.m, f.corr, f.p, f.l, f.acc) for f in here.folds]
        assert state == [(f.s, f.m_old, f.m, f.corr, f.p, f.l, f.acc) for f in there.folds]
        assert here.output == there.output


@given(inputs(), st.integers(1, 30))
@settings(deadline=None)
def test_block_size_changes_no_bit_of_the_output(case, block_size):
    other = case.placed(block_size, "reversed", 0)

    assert [w.output for w in attend(case)] == [w.output for w in attend(other)]


@given(inputs())
@settings(deadline=None)
def test_query_heads_of_one_group_read_the_same_kv_head(case):
    group = len(case.queries) // len(case.keys)
    walks = attend(case)

    for head, q in enumerate(case.queries):
        kv = head // group
        assert walks[head].dense == dense_attention(q, case.keys[kv], case.values[kv])


def test_unwritten_slots_and_padding_entries_are_never_read():
    """Padding leads to a block of NaN; one read of it would make the output NaN."""
    case = LESSON.first(5)
    k_pool, v_pool = (written_pool(case, x[0])[0] for x in (case.keys, case.values))
    padded = (*case.block_table, 0, 4)

    output = paged_attention(case.queries[0], padded, k_pool, v_pool, 5, lambda event: None)
    assert output == attend(case)[0].output
    assert not any(map(math.isnan, output))


def test_first_n_tokens_are_the_partial_output_of_the_whole():
    (whole,) = attend(LESSON)

    assert LESSON.first(4).block_table == (3,)
    assert LESSON.first(5).block_table == (3, 1)
    for n in range(1, 7):
        assert attend(LESSON.first(n))[0].output == whole.folds[n - 1].output


def test_placed_tables_stay_off_the_null_block_and_follow_the_order():
    numbers = random_input(1, 40, 2, 1, 1)
    tables = {order: numbers.placed(4, order, 3).block_table for order in ORDERS}

    assert sorted(tables["scattered"]) == list(tables["in order"])
    assert tables["reversed"] == tables["in order"][::-1]
    assert tables["scattered"] not in (tables["in order"], tables["reversed"])
    assert min(tables["in order"]) >= 1
    assert random_input(1, 40, 2, 1, 1) == numbers != random_input(2, 40, 2, 1, 1)


def test_an_early_large_score_does_not_overflow():
    """exp of the raw score would; exp of its distance to the max cannot."""
    case = AttentionInput([[1.0]], [[[900.0], [-900.0]]], [[[5.0], [7.0]]], (1,), 2, 2)
    (walk,) = attend(case)

    assert walk.output == walk.dense == [5]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"block_table": (3,)}, "1 blocks of 4 hold 4 tokens, not 6"),
        ({"keys": [[]]}, "seq_len is 0"),
        ({"block_table": (3, 3)}, "names a block twice"),
        ({"block_table": (3, 5)}, r"leaves the pool, 0 … 4"),
        ({"queries": [[1.0] * 4] * 3, "keys": [LESSON.keys[0]] * 2}, "3 query heads over 2"),
    ],
)
def test_impossible_inputs_are_refused_with_the_number(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(LESSON, **change)


def test_a_table_too_short_for_the_length_is_refused():
    pool = empty_pool(5, 4, 4)
    with pytest.raises(ValueError, match="2 blocks of 4 hold 8 tokens, not 9"):
        paged_attention(LESSON.queries[0], (3, 1), pool, pool, 9, lambda event: None)
