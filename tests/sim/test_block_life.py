"""The life of a block: by hand, and step by step against the frames of the same log."""

from hypothesis import given

from sim.block_life import Change, Moment, block_life
from sim.scenario import Reset, Scenario
from sim.simulate import simulate
from tests.sim.strategies import scenarios
from tests.sim.told import WORDS, spec


def run(*requests, blocks, **settings):
    return simulate(Scenario(blocks, 4, requests, max_model_len=64, **settings))


def test_a_block_that_is_evicted_by_hand():
    """Three blocks: A fills 1 and 2 and is gone when B takes 3, then 2, to fill both."""
    log = run(spec("A", WORDS[:8]), spec("B", range(50, 58), 1, 2), blocks=4)
    assert block_life(log, 2) == [
        Moment(2, 0, Change.TAKEN, 0, 1, 1),
        Moment(3, 0, Change.HASHED, 0, 1, 1, prefix=2),
        Moment(6, 1, Change.LET_GO, 0, 1, 0, prefix=2),
        Moment(10, 2, Change.EVICTED, 1, None, 0, prefix=2),
        Moment(10, 2, Change.TAKEN, 1, 1, 1),
        Moment(11, 2, Change.HASHED, 1, 1, 1, prefix=4),
        Moment(14, 3, Change.LET_GO, 1, 1, 0, prefix=4),
    ]


def test_a_block_that_is_hit_and_one_that_never_fills():
    log = run(spec("A", WORDS[:6], 2), spec("B", WORDS[:5]), blocks=8)
    told = [(m.change, m.request, m.logical, m.holders) for m in block_life(log, 1)]
    assert told == [
        (Change.TAKEN, 0, 0, 1),
        (Change.HASHED, 0, 0, 1),
        (Change.HIT, 1, 0, 2),
        (Change.LET_GO, 1, 0, 1),
        (Change.LET_GO, 0, 0, 0),
    ]
    assert [(m.change, m.to_head) for m in block_life(log, 2)] == [
        (Change.TAKEN, False),
        (Change.LET_GO, True),
    ]
    assert block_life(log, 7) == []


def test_what_a_reset_takes_is_forgotten_once():
    log = run(spec("A", WORDS[:4]), spec("B", WORDS[:4], 1, 3), blocks=4, resets=(Reset(3, False),))
    changes = [(m.change, m.request) for m in block_life(log, 1)]
    assert changes[:4] == [
        (Change.TAKEN, 0),
        (Change.HASHED, 0),
        (Change.LET_GO, 0),
        (Change.FORGOTTEN, None),
    ]
    assert [change for change, _ in changes].count(Change.FORGOTTEN) == 1


@given(scenarios())
def test_every_life_adds_up_to_the_frames(scenario):
    log = simulate(scenario)
    lives = [block_life(log, block) for block in range(scenario.num_gpu_blocks)]
    ids = [request.id for request in scenario.requests]
    for step in range(log.num_steps):
        frame = log.frame(step)
        owners = frame.owners
        for block, life in enumerate(lives):
            past = [moment for moment in life if moment.step <= step]
            last = past[-1] if past else Moment(0, 0, Change.LET_GO)
            lost = last.change in (Change.EVICTED, Change.FORGOTTEN)
            prefix = -1 if lost or last.prefix is None else last.prefix
            assert (last.holders, prefix) == (frame.ref_cnt[block], frame.prefix_id[block])
            held = {}
            for moment in past:
                if moment.change in (Change.TAKEN, Change.HIT):
                    held[ids[moment.request]] = moment.logical
                elif moment.change == Change.LET_GO:
                    del held[ids[moment.request]]
            assert set(held) == set(owners.get(block, ()))
            tables = {id: frame.requests[id].block_table for id in held}
            assert held == {id: table.index(block) for id, table in tables.items()}
