"""A contest: who is timed, over what, against which limit."""

import torch

from kernels import contest
from kernels.contenders import Contender
from kernels.job import Timing
from kernels.pools import pools_past_l2
from kernels.recorded import Row
from tests.kernels.small import small


def test_a_wrong_kernel_is_not_timed_and_one_that_raises_says_so(monkeypatch):
    monkeypatch.setattr(contest, "_time", None)  # would raise if it were called

    def fails(setup):
        raise RuntimeError("no kernel image\nfor this device")

    def compete(make):
        return contest.compete("x", make, None, small(), 9)

    wrong = Contender(id, lambda: 0.5, 0.1)
    assert compete(lambda setup: wrong) == [Row("x", False, 0.5, 0.1)]
    nan = Contender(id, lambda: float("inf"), 0.1)
    assert compete(lambda setup: nan) == [Row("x", False, None, 0.1, note="not a number")]
    assert compete(fails) == [Row("x", None, note="RuntimeError: no kernel image")]
    assert compete(lambda setup: None) == []


def test_a_right_kernel_is_timed_over_every_copy_and_held_against_the_fastest_limit(monkeypatch):
    called = []

    def replay(calls, call_bytes, samples):
        called.append([call() for call in calls])
        time = next(times)
        return Timing((time, 2 * time, time), 1, len(calls), len(calls) * call_bytes, 1)

    times = iter([8.0, 2.0, 4.0, 10.0, 10.0, 10.0, 10.0, 10.0])
    monkeypatch.setattr(contest, "replay", replay)
    monkeypatch.setattr(contest, "l2_bytes", lambda: 10_000)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    limits = [Contender(lambda copy, i=i: (i, copy), None, None) for i in range(3)]

    assert contest.fastest(limits, small(), 2).median_us == 2.0
    assert called == [[(0, 0), (0, 1)], [(1, 0), (1, 1)], [(2, 0), (2, 1)]]
    planned = Contender(lambda copy: copy, lambda: 0.0, 0.1, plan=lambda: None)
    (row,) = contest.compete("x", lambda setup: planned, None, small(), 5)
    assert called[-1] == [0, 1, 2, 3, 4]
    assert row.median_us == 10.0
    assert row.plan_us is not None


def test_copies_read_in_turn_exceed_the_l2_tenfold():
    assert pools_past_l2(1000, 60_000) == 600_000 // 1000 - 88  # no more than 512
    assert pools_past_l2(2000, 60_000) == 300
    assert pools_past_l2(10**9, 60_000) == 2
