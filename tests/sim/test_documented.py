"""vLLM's own walk-through of prefix caching: an outside authority for our order of eviction."""

import pytest

from sim.block_pool import NULL_BLOCK
from sim.documented import TIME_TO_STEP, documented_example
from sim.events import EventKind
from sim.simulate import simulate


def drawn(blocks):
    """Blocks as the page numbers them: it leaves the null block out."""
    return [int(block) - 1 for block in blocks]


@pytest.fixture
def log():
    return simulate(documented_example())


@pytest.fixture
def at(log):
    return lambda time: log.frame(TIME_TO_STEP[time])


def table(frame, number):
    return drawn(frame.requests[f"request {number}"].block_table)


def evictions(log):
    """(request, blocks) for each time that taking blocks cost hashes."""
    kind, request, a = (log.columns[name].tolist() for name in ("kind", "request", "a"))
    return [(r, n) for k, r, n in zip(kind, request, a, strict=True) if k == EventKind.TAKE and n]


def cached(frame):
    return drawn(b for b, prefix in enumerate(frame.prefix_id) if prefix >= 0)


def test_time_1_three_blocks_are_full_and_cached(at):
    frame = at(1)
    assert table(frame, 0) == [0, 1, 2, 3]
    assert cached(frame) == [0, 1, 2]
    assert frame.fill[frame.requests["request 0"].block_table[3]] == 3


def test_time_3_block_3_is_cached_and_4_allocated(at):
    assert table(at(3), 0) == [0, 1, 2, 3, 4]
    assert cached(at(3)) == [0, 1, 2, 3]


def test_time_4_only_two_blocks_hit(at):
    frame = at(4)
    assert table(frame, 1) == [0, 1, 5, 6]
    assert frame.scheduled[-1] == ("request 1", 6, 8)
    assert drawn(frame.free_queue) == [7, 8, 9]


def test_time_5_request_0_gave_back_what_1_does_not_hold(at):
    assert drawn(at(5).free_queue) == [7, 8, 9, 4, 3, 2]
    assert cached(at(5)) == [0, 1, 2, 3, 5]


def test_time_6_the_free_queue_of_the_page(at):
    assert drawn(at(6).free_queue) == [7, 8, 9, 4, 3, 2, 6, 5, 1, 0]


def test_time_7_the_blocks_of_the_page(log, at):
    assert table(at(7), 2) == [0, 1, 2, 7, 8, 9, 4, 3]
    assert evictions(log) == [(2, 1)]
    assert 3 not in cached(at(7))


def test_0_26_0_hands_out_half_filled_blocks_first():
    """Unhashed 4 and 6 are at the head now, so nothing cached is lost."""
    log = simulate(documented_example("0.26.0"))
    before, after = (log.frame(TIME_TO_STEP[time]) for time in (6, 7))
    assert drawn(before.free_queue) == [6, 4, 7, 8, 9, 3, 2, 5, 1, 0]
    assert table(after, 2) == [0, 1, 2, 6, 4, 7, 8, 9]
    assert evictions(log) == []
    assert NULL_BLOCK not in before.free_queue
