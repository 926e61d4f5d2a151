"""What the rows tell of blocks and their hashes, against a pool that is walked row by row."""

from hypothesis import given, settings

from sim.events import EventKind
from sim.simulate import simulate
from sim.verdict.cache_history import CacheHistory
from tests.sim.strategies import scenarios


def hashed_blocks(log):
    """(row, blocks taken, blocks that held a hash before the row) of each TAKE."""
    hashed = set()
    columns = (log.columns[name].tolist() for name in ("kind", "a", "b"))
    for row, (kind, a, b) in enumerate(zip(*columns, strict=True)):
        blocks = log.payload(row).tolist()
        if kind == EventKind.TAKE:
            yield row, blocks, sorted(hashed.intersection(blocks))
            hashed.difference_update(blocks)
        elif kind == EventKind.CACHE:
            hashed.update(blocks[:b])
        elif kind == EventKind.RESET and a:
            hashed.clear()


@settings(max_examples=80)
@given(scenarios())
def test_a_take_says_how_many_hashes_it_costs_and_the_history_which(scenario):
    log = simulate(scenario)
    history = CacheHistory(log)
    for row, blocks, lost in hashed_blocks(log):
        assert log.columns["a"][row] == len(lost)
        assert sorted(b for b in blocks if history.held_hash(b, row)) == lost
