"""Each example shows what it says, at the step at which it opens."""

import pytest

from pages.ui.examples import EXAMPLES
from pages.ui.reasons import why_block
from sim.simulate import simulate

RUNS = {example.slug: (example, simulate(example.scenario)) for example in EXAMPLES}


def opened(slug):
    example, log = RUNS[slug]
    return log, log.frame(example.step)


@pytest.mark.parametrize("slug", RUNS)
def test_an_example_ends_with_every_block_free(slug):
    example, log = RUNS[slug]

    last = log.frame(log.num_steps - 1)
    assert not log.stalled
    assert len(last.free_queue) == example.scenario.num_gpu_blocks - 1


def test_the_lesson_ends_in_blocks_3_and_1():
    _, frame = opened("lesson")

    assert frame.requests["A"].block_table == (3, 1)
    assert frame.requests["A"].num_computed_tokens == 6


def test_two_chats_hold_the_same_three_blocks():
    _, frame = opened("two-chats")

    assert frame.block_tables == [[1, 2, 3, 4, 5], [1, 2, 3, 6, 7, 8]]
    assert frame.ref_cnt[1:9].tolist() == [2, 2, 2, 1, 1, 1, 1, 1]


def test_the_long_prompt_is_spread_and_the_short_ones_run_beside_it():
    example, log = RUNS["long-and-short"]

    spread = [dict(row[:2] for row in log.frame(step).scheduled) for step in range(4)]
    assert [row["long"] for row in spread] == [24, 24, 24, 18]
    assert log.frame(example.step).running == ("long", "s1", "s2", "s3")


def test_the_small_pool_preempts_and_resumes():
    log, frame = opened("too-small")

    assert log.frame(frame.step - 1).requests["r2"].status == "PREEMPTED"
    assert frame.requests["r2"].status == "RUNNING"
    assert frame.requests["r2"].num_preemptions == 1


def test_a_block_from_the_head_of_the_queue():
    log, frame = opened("lesson")

    assert why_block(log, frame.step, "A", 1) == (
        "At step 2 A asked the free queue for a block, and block 1 was at its head. "
        "Nobody chose it: an id carries no order."
    )


def test_a_block_further_down_the_queue_that_lost_its_hash():
    log, frame = opened("too-small")

    assert why_block(log, frame.step, "r2", 14) == (
        "At step 25 r2 asked the free queue for 6 blocks, and block 14 was next in the free queue "
        "after 8 and 12. Nobody chose it: an id carries no order. "
        "Its old hash was dropped for that."
    )


def test_a_block_that_was_hit():
    log, frame = opened("two-chats")

    assert why_block(log, frame.step, "Ben", 3) == (
        "At step 2 the prefix cache was asked for Ben: block 3 already held these tokens, so Ben "
        "holds it too and computes nothing of it."
    )
