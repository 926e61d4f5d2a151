"""Where vLLM itself hangs or misbehaves, the run does the same, and its log says so."""

from sim.events import Hazard
from sim.hazards import hazards
from sim.simulate import simulate


def told(log):
    return [(h.hazard, h.request_id, h.num_blocks, h.blocks) for h in hazards(log)]


def test_a_request_that_never_fits_is_told_once(scenario, request_spec):
    big, small = request_spec("A", [1] * 20, 1), request_spec("B", [1], 1)
    log = simulate(scenario(big, small, num_gpu_blocks=4))
    assert log.stalled
    assert told(log) == [(Hazard.NEVER_FITS, "A", 5, ())]


def test_a_pool_that_is_just_large_enough_is_no_hazard(scenario, request_spec):
    log = simulate(scenario(request_spec("A", [1] * 12, 1), num_gpu_blocks=4))
    assert not log.stalled
    assert told(log) == []


def test_a_request_that_outgrows_the_pool(scenario, request_spec):
    """3 usable blocks hold 12 tokens. The 13th finds none, and then all 13 never fit."""
    log = simulate(scenario(request_spec("A", [1] * 6, 20), num_gpu_blocks=4))
    assert log.stalled
    assert told(log) == [(Hazard.OUTGREW_POOL, "A", 0, ()), (Hazard.NEVER_FITS, "A", 4, ())]
    assert [h.step for h in hazards(log)] == [7, 8]


def test_min_tokens_past_max_model_len_keeps_its_blocks_for_ever(scenario, request_spec):
    stuck = request_spec("A", [1] * 6, 4, min_tokens=30)
    log = simulate(scenario(stuck, max_model_len=12))
    assert log.stalled
    assert told(log) == [(Hazard.PAST_MAX_MODEL_LEN, "A", 0, ())]
    last = log.frame(log.num_steps - 1)
    assert last.requests["A"].num_computed_tokens == 11
    assert last.requests["A"].block_table == (1, 2, 3)


def test_a_run_in_which_requests_take_blocks_from_each_other_for_ever_is_cut(
    scenario, request_spec
):
    """A stands at max_model_len with 3 blocks; B and C need 4 each of the 5 that are left."""
    stuck = request_spec("A", [1] * 6, 4, min_tokens=30)
    rest = (request_spec(name, [i] * 10, 10) for i, name in enumerate("BC", 2))
    engine = {"num_gpu_blocks": 7, "max_model_len": 16, "scheduler_reserve_full_isl": False}
    log = simulate(scenario(stuck, *rest, **engine))
    assert log.stalled
    assert log.num_steps < 500
    assert (Hazard.PAST_MAX_MODEL_LEN, "A", 0, ()) in told(log)


def low_and_high(request_spec):
    """Chunks of 6 tokens, 6 usable blocks: "low" fills block 5 just as "high" needs one more."""
    low = request_spec("low", [1] * 20, 2, priority=1)
    high = request_spec("high", [2] * 4, 3, arrival=1, priority=0)
    return low, high


ENGINE = {"num_gpu_blocks": 7, "long_prefill_token_threshold": 6}


def test_hashes_that_a_priority_victim_leaves_for_tokens_nobody_computed(scenario, request_spec):
    """ "low" gives way after its block got a hash, so those tokens are never computed; it hits it
    when it comes back."""
    log = simulate(scenario(*low_and_high(request_spec), policy="priority", **ENGINE))
    assert log.frame(1).block_tables == [[1, 2, 3], [4]]
    assert log.frame(2).block_tables == [[4, 6]]
    assert told(log) == [
        (Hazard.UNCOMPUTED, "low", 1, (5,)),
        (Hazard.READS_UNCOMPUTED, "low", 1, (5,)),
    ]


def test_first_come_first_served_never_leaves_such_hashes(scenario, request_spec):
    assert told(simulate(scenario(*low_and_high(request_spec), **ENGINE))) == []
