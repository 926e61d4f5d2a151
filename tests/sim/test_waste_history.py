"""The slots of all steps at once, against those of each frame."""

from dataclasses import fields

import numpy as np
from hypothesis import given, settings

from sim.contiguous import Reservation, reserve
from sim.pressure import pressure
from sim.simulate import simulate
from sim.stays import Stays
from sim.table_lengths import TableLengths
from sim.waste import Waste, contiguous_waste, paged_waste
from sim.waste_history import WasteHistory, contiguous_history, paged_history
from tests.sim.strategies import scenarios


def paged(log):
    stays = Stays(log)
    return paged_history(log, pressure(log, stays), TableLengths(stays))


def at(history, step):
    return Waste(*(int(getattr(history, field.name)[step]) for field in fields(Waste)))


@settings(max_examples=50, deadline=None)
@given(scenarios())
def test_every_step_is_what_its_frame_says(scenario):
    log = simulate(scenario)
    history = paged(log)

    assert [at(history, step) for step in range(log.num_steps)] == [
        paged_waste(scenario, log.frame(step)) for step in range(log.num_steps)
    ]


@settings(max_examples=25, deadline=None)
@given(scenarios())
def test_tables_are_as_long_as_those_of_the_frames(scenario):
    log = simulate(scenario)
    tables = TableLengths(Stays(log))
    lengths = [
        [len(request.block_table) for request in log.frame(step).requests.values()]
        for step in range(log.num_steps)
    ]

    assert tables.total(tables.length).tolist() == [sum(of_step) for of_step in lengths]
    assert tables.longest == max((max(of_step, default=0) for of_step in lengths), default=0)


def test_who_never_gives_its_blocks_back_counts_to_the_end(scenario, request_spec):
    """A may not stop before 20 tokens, and has room for 8: it stands there with 7 blocks of 4."""
    a = request_spec("A", [1] * 20, 4, min_tokens=20)
    b = request_spec("B", [2, 3, 4], 2, arrival=1)
    log = simulate(scenario(a, b, num_gpu_blocks=12))
    tables = TableLengths(Stays(log))
    last = log.num_steps - 1

    assert log.stalled
    assert tables.longest == 7
    assert tables.total(tables.length)[[0, 1, last]].tolist() == [4, 6, 7]
    assert at(paged(log), last) == paged_waste(log.scenario, log.frame(last))


def test_a_baseline_is_read_at_the_engine_steps_of_another_run(scenario, request_spec):
    run = reserve(scenario(request_spec("A", [1, 2, 3], 2)), Reservation.MAX)
    history = contiguous_history(run, np.array([1, 0, 1, 7]))

    assert [at(history, i) for i in range(4)] == [contiguous_waste(run, s) for s in (1, 0, 1, 7)]


def test_the_share_counts_every_held_slot_in_every_step():
    """4 of 4 slots full, then 2 of 12, then nothing is held: 10 of 16 are empty."""
    used, reserved, internal = np.array([[4, 2, 0], [0, 3, 0], [0, 7, 0]])
    zero = np.zeros(3, np.int64)

    assert WasteHistory(zero, used, reserved, internal, zero + 5).empty_share == 10 / 16
    assert WasteHistory(zero, zero, zero, zero, zero).empty_share == 0.0
