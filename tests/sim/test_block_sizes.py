"""The sweep over block sizes: by hand, and against the frames of each run."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from sim.block_sizes import BlockSizeRun, cut_anew, measured, sizes_for, sweep
from sim.simulate import simulate
from sim.waste import paged_waste
from tests.sim.strategies import scenarios


def test_what_block_sizes_come_to_by_hand(scenario, request_spec):
    """A stores 6 tokens, B 6 of which 5 are A's; each runs alone for two steps: 5, 6, 5, 6 tokens.

    Blocks of 2: 3 entries always, 6 slots held. B finds blocks of 1, 2, 3, 4 and 5 tokens: 4 of its
    tokens in blocks of 1, 2 and 4, as its last one is never taken from the cache, 3 in blocks of 3.
    """
    a = request_spec("A", [1, 2, 3, 4, 5], 2)
    b = request_spec("B", [1, 2, 3, 4, 5], 2, arrival=5)
    runs = {run.block_size: run for run in sweep(scenario(a, b, num_gpu_blocks=9, block_size=3))}

    assert list(runs) == [1, 2, 3, 4, 8, 16, 32, 64, 128, 256]
    assert [run.num_blocks for run in runs.values()] == [25, 13, 9, 7, 4, 2, 1, 1, 1, 1]
    assert [run.hit for run in runs.values()] == [4, 4, 3, 4, 0, 0, 0, 0, 0, 0]
    assert [run.longest for run in runs.values()] == [6, 3, 2, 2, 1, 1, 0, 0, 0, 0]
    assert [run.stalled for run in runs.values()] == [False] * 6 + [True] * 4
    assert runs[1].empty_share == 0
    assert runs[2].empty_share == pytest.approx(2 / 24)
    assert runs[8].empty_share == pytest.approx(10 / 32)
    assert runs[1].mean_entries == 5.5
    assert runs[3].asked == 10


@settings(max_examples=25, deadline=None)
@given(scenarios())
def test_a_run_is_measured_as_its_frames_are(scenario):
    log = simulate(scenario)
    frames = [log.frame(step) for step in range(log.num_steps)]
    waste = [paged_waste(scenario, frame) for frame in frames]
    held, used = sum(w.held for w in waste), sum(w.used for w in waste)
    tables = [len(table) for frame in frames for table in frame.block_tables]
    found = measured(log)

    assert found.empty_share == (1 - used / held if held else 0)
    assert found.longest == max(tables, default=0)
    assert found.mean_entries == (sum(tables) / len(tables) if tables else 0)


def test_the_memory_stays_the_same(scenario, request_spec):
    """27 slots: 13 blocks of 2 have 26 of them."""
    odd = scenario(request_spec("A", [1], 1), num_gpu_blocks=10, block_size=3)

    assert cut_anew(odd, 3) == odd
    assert cut_anew(odd, 2) == replace(odd, block_size=2, num_gpu_blocks=14)
    assert cut_anew(odd, 32).num_gpu_blocks == 1


def test_a_size_that_would_be_too_many_blocks_is_left_out(scenario, request_spec):
    """25,599,744 slots: blocks of 1 and 2 would be more than 10,000,000."""
    huge = scenario(request_spec("A", [1], 1), num_gpu_blocks=100_000, block_size=256)

    assert sizes_for(huge) == [4, 8, 16, 32, 64, 128, 256]


def test_progress_grows_and_can_end_it(scenario, request_spec):
    """700 tokens, one a step: a call every 256 steps of each run."""
    long = scenario(request_spec("A", [1], 700), num_gpu_blocks=100, block_size=8)
    shares = []
    sweep(replace(long, max_model_len=1_000), shares.append)

    def stop(share):
        raise InterruptedError

    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] < 1
    with pytest.raises(InterruptedError):
        sweep(replace(long, max_model_len=1_000), stop)


def test_a_run_says_what_it_came_to(scenario, request_spec):
    log = simulate(scenario(request_spec("A", [1, 2, 3], 1), num_gpu_blocks=3, block_size=2))

    assert measured(log) == BlockSizeRun(2, 3, False, log.num_steps, 0.25, 2, 2.0, 3, 0)
