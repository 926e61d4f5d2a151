import tracemalloc
from array import array

import pytest

from sim.block_pool import BlockPool
from sim.events import EventKind, Hazard
from sim.free_queue import FreeBlockQueue

R = 0  # the request that asks


class Log(list):
    """What a LogBuilder takes, as readable rows."""

    def record(self, kind, request, a=0, b=0, payload=()):
        self.append((EventKind(kind).name, a, b, list(payload)))


def give_back(pool, table):
    """Free a table whose first blocks may hold hashes."""
    held, blocks = pool.prefix_of, table[::-1]
    pool.free_blocks(blocks, array("i", [held[b] for b in blocks if b in held]), R)


def found(pool, *prefix_ids):
    return pool.get_cached_blocks(prefix_ids)


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def pool(log):
    pool = BlockPool(6, log)
    pool.know_prefixes(99)
    return pool


def free(pool):
    return list(pool.free_block_queue)


def test_null_block_is_never_handed_out(pool):
    assert pool.get_new_blocks(5) == [1, 2, 3, 4, 5]
    assert pool.num_free_blocks == 0


def test_more_than_free_is_refused_and_changes_nothing(pool):
    with pytest.raises(ValueError, match="6 blocks asked for, 5 are free"):
        pool.get_new_blocks(6)
    assert free(pool) == [1, 2, 3, 4, 5]


def test_a_duplicate_between_two_others_loses_its_own_hash(pool):
    for block_id in pool.get_new_blocks(3):
        pool.cache_full_blocks([block_id], [70], 0, R)
    pool.evict_blocks([2])
    assert found(pool, 70) == [1]
    pool.evict_blocks([1])
    assert found(pool, 70) == [3]


def test_unhashed_go_to_the_head_and_hashed_to_the_tail(pool, log):
    table = pool.get_new_blocks(3)
    pool.cache_full_blocks(table[:2], [70, 71], 0, R)
    give_back(pool, table)
    assert free(pool) == [3, 4, 5, 2, 1]
    assert log[-1] == ("RELEASE", 1, 2, [3, 2, 1])
    pool.check()


def test_two_unhashed_come_back_last_first(pool):
    give_back(pool, pool.get_new_blocks(3))
    assert free(pool) == [3, 2, 1, 4, 5]


def test_touched_block_leaves_the_middle_of_the_queue(pool):
    table = pool.get_new_blocks(3)
    pool.cache_full_blocks(table, [70, 71, 72], 0, R)
    give_back(pool, table)
    pool.touch([2], R)
    assert free(pool) == [4, 5, 3, 1]
    pool.touch([2], R)
    give_back(pool, [2])
    assert pool.ref_cnt[2] == 1
    assert free(pool) == [4, 5, 3, 1]
    pool.check()


def test_taking_a_cached_block_evicts_its_hash_first(pool, log):
    table = pool.get_new_blocks(5)
    pool.cache_full_blocks(table, [70, 71, 72, 73, 74], 0, R)
    give_back(pool, table)
    assert pool.get_new_blocks(2) == [5, 4]
    assert log[-1] == ("TAKE", 2, 0, [5, 4])
    assert found(pool, 74) == []
    assert found(pool, 70, 71, 72, 73) == [1, 2, 3]
    pool.check()


def test_oldest_of_two_duplicates_is_found_until_it_is_evicted(pool):
    pool.get_new_blocks(3)
    pool.cache_full_blocks([2], [70], 0, R)
    pool.cache_full_blocks([1], [70], 0, R)
    assert found(pool, 70) == [2]
    pool.evict_blocks([2])
    assert found(pool, 70) == [1]
    pool.cache_full_blocks([2], [70], 0, R)
    assert found(pool, 70) == [1]
    pool.check()


def test_evicting_by_hand_keeps_the_queue_order(pool):
    table = pool.get_new_blocks(2)
    pool.cache_full_blocks(table, [70, 71], 0, R)
    give_back(pool, table)
    pool.evict_blocks([2])
    assert free(pool) == [3, 4, 5, 2, 1]


def test_reset_needs_every_block_free(pool, log):
    table = pool.get_new_blocks(1)
    pool.cache_full_blocks(table, [70], 0, R)
    assert pool.reset_prefix_cache() is False
    assert found(pool, 70) == [1]
    give_back(pool, table)
    assert pool.reset_prefix_cache() is True
    assert found(pool, 70) == []
    assert free(pool) == [2, 3, 4, 5, 1]
    assert [entry[:2] for entry in log if entry[0] == "RESET"] == [("RESET", 0), ("RESET", 1)]


def test_queue_prepends_a_group_in_order():
    queue = FreeBlockQueue(1, 10)
    queue.popleft_n(9)
    queue.append_n([1, 2], array("i", [0, 0]))
    queue.prepend_n([7, 8])
    queue.append_n([9], array("i", [70]))
    assert list(queue) == [7, 8, 1, 2, 9]
    assert queue.popleft_n(3) == ([7, 8, 1], array("i", [0]))


def test_a_group_is_taken_across_all_three_parts_of_the_queue():
    queue = FreeBlockQueue(1, 6)
    queue.popleft_n(3)
    queue.append_n([1], array("i", [0]))
    queue.prepend_n([3, 2])
    assert list(queue) == [3, 2, 4, 5, 1]
    assert queue.popleft_n(5) == ([3, 2, 4, 5, 1], array("i", [0]))
    assert len(queue) == 0


def test_before_0_26_all_go_to_the_tail_as_they_come(log):
    pool = BlockPool(6, log, unhashed_first=False)
    pool.know_prefixes(99)
    table = pool.get_new_blocks(3)
    pool.cache_full_blocks(table[:2], [70, 71], 0, R)
    give_back(pool, table)
    assert free(pool) == [4, 5, 3, 2, 1]
    assert log[-1] == ("RELEASE", 0, 3, [3, 2, 1])
    pool.check()


def test_a_hit_on_a_block_that_nobody_computed_is_told(pool, log):
    table = pool.get_new_blocks(2)
    pool.cache_full_blocks(table, [70, 71], 0, R)
    pool.uncomputed = {2}
    give_back(pool, table)
    pool.touch([1], R)
    assert log[-1][0] == "TOUCH"
    pool.touch([2], R)
    assert log[-1] == ("HAZARD", Hazard.READS_UNCOMPUTED, 1, [2])


def test_a_block_that_is_taken_again_is_no_longer_uncomputed(pool, log):
    pool.get_new_blocks(4)
    pool.cache_full_blocks([4], [70], 0, R)
    pool.uncomputed = {4}
    give_back(pool, [4])
    pool.get_new_blocks(2)
    assert pool.uncomputed == set()


def test_pool_of_the_null_block_alone_has_nothing_to_give():
    assert BlockPool(1, Log()).num_free_blocks == 0


def test_a_pool_of_ten_million_takes_the_memory_of_what_is_used():
    tracemalloc.start()
    pool = BlockPool(10_000_000, Log())
    give_back(pool, pool.get_new_blocks(1000))
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()


def test_a_long_queue_drops_what_was_taken_from_its_tail():
    """Every block passes a thousand times; the memory stays that of some rounds."""
    queue = FreeBlockQueue(1, 101)
    tracemalloc.start()
    for _ in range(1000):
        queue.append_n(queue.popleft_n(100)[0], array("i", [0] * 100))
    assert list(queue) == list(range(1, 101))
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()


def test_a_block_touched_twice_out_of_the_queue_comes_when_it_was_put_back_last():
    queue = FreeBlockQueue(1, 4)
    queue.append_n(queue.popleft_n(3)[0], array("i", [7, 8, 9]))
    for _ in range(2):
        queue.remove([1])
        queue.append_n([1], array("i", [7]))
    assert list(queue) == [2, 3, 1]
    assert queue.popleft_n(3) == ([2, 3, 1], array("i", [8, 9, 7]))


def test_a_held_block_that_lost_its_hash_goes_to_the_head(pool):
    table = pool.get_new_blocks(2)
    pool.cache_full_blocks(table, [70, 71], 0, R)
    pool.evict_blocks([2])
    pool.free_blocks([2, 1], array("i", [71, 70]), R)
    assert free(pool) == [2, 3, 4, 5, 1]
    assert pool.get_new_blocks(1) == [2]
    pool.cache_full_blocks([2], [72], 0, R)
    pool.free_blocks([2], array("i", [72]), R)
    assert free(pool) == [3, 4, 5, 1, 2]
