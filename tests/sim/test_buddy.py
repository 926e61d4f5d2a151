import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.contiguous.buddy import BuddyMemory, power_of_two
from tests.sim.slow_orca import doubled, free_blocks


@pytest.mark.parametrize(("slots", "size"), [(1, 1), (2, 2), (3, 4), (25, 32), (32, 32), (33, 64)])
def test_power_of_two(slots, size):
    assert power_of_two(slots) == size


def test_by_hand():
    """7 slots are a block of 4 at 0, of 2 at 4 and of 1 at 6; 4 is halved when the others went."""
    memory = BuddyMemory(7)
    assert [memory.take(slots) for slots in (1, 2, 1, 3, 2, 1, 1)] == [6, 4, 0, None, 2, 1, None]
    memory.give_back(2, 2)
    memory.give_back(0, 1)
    assert memory.too_small_for(3) == 3
    assert memory.take(3) is None  # 1 is held, so 0 and 2 cannot be one block again
    memory.give_back(1, 1)
    assert memory.take(3) == 0


def test_neighbours_that_are_no_buddies_stay_apart():
    """Slots 1 and 2 of 4 are side by side, and halves of different blocks."""
    memory = BuddyMemory(4)
    assert [memory.take(1) for _ in range(4)] == [0, 1, 2, 3]
    memory.give_back(2, 1)
    memory.give_back(1, 1)
    assert (memory.take(2), memory.too_small_for(2)) == (None, 2)
    assert [memory.take(1), memory.take(1)] == [1, 2]


def test_seven_requests_of_2048_fit_in_15728_slots():
    memory = BuddyMemory(15_728)
    starts = [memory.take(2048) for _ in range(8)]
    assert sorted(starts[:7]) == [2048 * i for i in range(7)]
    assert starts[7] is None
    assert memory.too_small_for(2048) == 15_728 - 7 * 2048 == 1392


@pytest.mark.parametrize(("capacity", "largest"), [(0, 0), (1, 1), (7, 4), (8, 8), (15_728, 8192)])
def test_the_largest_piece(capacity, largest):
    memory = BuddyMemory(capacity)
    assert memory.largest == largest
    assert memory.take(largest + 1) is None
    assert memory.take(max(largest, 1)) == (0 if largest else None)


# A number takes that many slots, or gives back the piece at that place of those held.
operations = st.lists(st.tuples(st.sampled_from(["take", "give"]), st.integers(1, 9)), min_size=12)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 45), operations)
def test_pieces_are_where_a_search_of_all_slots_puts_them(capacity, operations):
    memory, pieces = BuddyMemory(capacity), []  # (start, slots asked)
    for name, number in operations:
        if name == "take":
            start = memory.take(number)
            fitting = [b for b in free_blocks(capacity, slots_of(pieces)) if b[0] >= number]
            assert start == (min(fitting)[1] if fitting else None)
            pieces += [(start, number)] if fitting else []
        elif pieces:
            memory.give_back(*pieces.pop(number % len(pieces)))
        check_apart(capacity, pieces)
        free = [size for size, _ in free_blocks(capacity, slots_of(pieces))]
        assert memory.too_small_for(number) == sum(size for size in free if size < number)


def slots_of(pieces):
    return {slot for start, asked in pieces for slot in range(start, start + doubled(asked))}


def check_apart(capacity, pieces):
    """Inside the memory, aligned, and no two in one slot."""
    ends = 0
    for start, asked in sorted(pieces):
        assert start >= ends
        assert start % doubled(asked) == 0
        ends = start + doubled(asked)
    assert ends <= capacity


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 500), st.lists(st.integers(1, 60)))
def test_before_the_first_give_back_only_full_memory_refuses(capacity, asked):
    """Each size is free at most once, so all blocks below 2^k together have less than 2^k slots."""
    memory, free = BuddyMemory(capacity), capacity
    for slots in asked:
        fits = doubled(slots) <= free
        assert (memory.take(slots) is not None) == fits
        free -= doubled(slots) if fits else 0


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 500), st.lists(st.integers(1, 60)), st.randoms())
def test_memory_given_back_is_as_it_was(capacity, asked, random):
    memory = BuddyMemory(capacity)
    pieces = [(memory.take(slots), slots) for slots in asked]
    held = [piece for piece in pieces if piece[0] is not None]
    random.shuffle(held)
    for piece in held:
        memory.give_back(*piece)
    assert vars(memory) == vars(BuddyMemory(capacity))
