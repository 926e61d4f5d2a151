from hypothesis import given, settings

from sim.contiguous import Reservation, reserve
from sim.simulate import simulate
from sim.waste import Waste, contiguous_waste, paged_waste
from tests.sim.strategies import scenarios


def test_paged_slots_by_hand(scenario, request_spec):
    """A: 5 tokens in two blocks of 4, 3 more to store; B shares A's first block."""
    a = request_spec("A", [1, 2, 3, 4, 5], 2)
    b = request_spec("B", [1, 2, 3, 4, 9, 9], 4, arrival=1)
    log = simulate(scenario(a, b))
    waste = [paged_waste(log.scenario, log.frame(step)) for step in range(3)]
    assert waste[0] == Waste(running=1, used=5, reserved=1, internal=2, external=0)
    assert waste[1] == Waste(running=2, used=8, reserved=2, internal=2, external=0)
    assert waste[2] == Waste(running=1, used=7, reserved=1, internal=0, external=0)
    assert waste[0].held == 8
    assert waste[0].empty_share == 3 / 8


def test_contiguous_slots_by_hand(scenario, request_spec):
    """28 slots: A has 16 of them, B and C wait as the other 12 are in pieces of 8 and 4."""
    a, b, c = (request_spec(name, [1, 2, 3], 2) for name in "ABC")
    run = reserve(scenario(a, b, c, max_model_len=12), Reservation.MAX)
    waste = contiguous_waste(run, 0)
    assert waste == Waste(running=1, used=3, reserved=1, internal=8, external=16)
    assert (waste.held, waste.empty_share) == (12, 0.75)
    assert contiguous_waste(run, run.num_steps) == Waste(0, 0, 0, 0, 0)
    assert contiguous_waste(run, run.num_steps).empty_share == 0.0


@settings(max_examples=100, deadline=None)
@given(scenarios())
def test_every_held_slot_is_counted_once(scenario):
    log = simulate(scenario)
    for step in range(log.num_steps):
        frame = log.frame(step)
        waste = paged_waste(scenario, frame)
        assert min(waste.used, waste.reserved, waste.internal) >= 0
        assert waste.held == len(frame.owners) * scenario.block_size
        assert waste.internal + waste.reserved <= len(frame.running) * (scenario.block_size - 1)
