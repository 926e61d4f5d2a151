import pytest

from sim.block_pool import BlockPool, FreeBlockQueue

R = 0  # the request that asks


@pytest.fixture
def log():
    return []


@pytest.fixture
def pool(log):
    def record(kind, request, a=0, b=0, payload=()):
        log.append((kind.name, a, b, list(payload)))

    return BlockPool(6, record)


def free(pool):
    return list(pool.free_block_queue)


def test_null_block_is_never_handed_out(pool):
    assert pool.get_new_blocks(5) == [1, 2, 3, 4, 5]
    assert pool.usage == 1.0


def test_more_than_free_is_refused_and_changes_nothing(pool):
    with pytest.raises(ValueError, match="6 blocks asked for, 5 are free"):
        pool.get_new_blocks(6)
    assert free(pool) == [1, 2, 3, 4, 5]


def test_unhashed_go_to_the_head_and_hashed_to_the_tail(pool, log):
    table = pool.get_new_blocks(3)
    pool.cache_full_blocks(table[:2], [70, 71], 0, R)
    pool.free_blocks(table[::-1], R)
    assert free(pool) == [3, 4, 5, 2, 1]
    assert log[-1] == ("RELEASE", 1, 2, [3, 2, 1])
    pool.check()


def test_two_unhashed_come_back_last_first(pool):
    pool.free_blocks(pool.get_new_blocks(3)[::-1], R)
    assert free(pool) == [3, 2, 1, 4, 5]


def test_touched_block_leaves_the_middle_of_the_queue(pool):
    table = pool.get_new_blocks(3)
    pool.cache_full_blocks(table, [70, 71, 72], 0, R)
    pool.free_blocks(table[::-1], R)
    pool.touch([2], R)
    assert free(pool) == [4, 5, 3, 1]
    pool.touch([2], R)
    pool.free_blocks([2], R)
    assert pool.ref_cnt[2] == 1
    assert free(pool) == [4, 5, 3, 1]
    pool.check()


def test_taking_a_cached_block_evicts_its_hash_first(pool, log):
    table = pool.get_new_blocks(5)
    pool.cache_full_blocks(table, [70, 71, 72, 73, 74], 0, R)
    pool.free_blocks(table[::-1], R)
    assert pool.get_new_blocks(2) == [5, 4]
    assert log[-2:] == [("EVICT", 0, 0, [5, 4]), ("TAKE", 0, 0, [5, 4])]
    assert pool.get_cached_block(74) is None
    assert pool.get_cached_block(72) == 3
    pool.check()


def test_oldest_of_two_duplicates_is_found_until_it_is_evicted(pool):
    pool.get_new_blocks(3)
    pool.cache_full_blocks([2], [70], 0, R)
    pool.cache_full_blocks([1], [70], 0, R)
    assert pool.get_cached_block(70) == 2
    pool.evict_blocks([2])
    assert pool.get_cached_block(70) == 1
    pool.cache_full_blocks([2], [70], 0, R)
    assert pool.get_cached_block(70) == 1
    pool.check()


def test_evicting_by_hand_keeps_the_queue_order(pool):
    table = pool.get_new_blocks(2)
    pool.cache_full_blocks(table, [70, 71], 0, R)
    pool.free_blocks(table[::-1], R)
    pool.evict_blocks([2])
    assert free(pool) == [3, 4, 5, 2, 1]


def test_reset_needs_every_block_free(pool, log):
    table = pool.get_new_blocks(1)
    pool.cache_full_blocks(table, [70], 0, R)
    assert pool.reset_prefix_cache() is False
    assert pool.get_cached_block(70) == 1
    pool.free_blocks(table, R)
    assert pool.reset_prefix_cache() is True
    assert pool.get_cached_block(70) is None
    assert free(pool) == [2, 3, 4, 5, 1]
    assert [entry[:2] for entry in log if entry[0] == "RESET"] == [("RESET", 0), ("RESET", 1)]


def test_queue_prepends_a_group_in_order():
    queue = FreeBlockQueue([1, 2])
    queue.prepend_n([7, 8])
    queue.append_n([9])
    assert list(queue) == [7, 8, 1, 2, 9]
    assert queue.popleft_n(2) == [7, 8]


def test_pool_of_the_null_block_alone_is_unused():
    assert BlockPool(1, lambda *row, **more: None).usage == 0.0
