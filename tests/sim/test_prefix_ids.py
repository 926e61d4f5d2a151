"""Prefix ids against the definition: equal exactly when everything up to the block's end is."""

from array import array

from hypothesis import given, settings
from hypothesis import strategies as st

from sim.prefix_cache import PrefixIds
from sim.prompt import HashedPrompt, TokenPrompt
from sim.request import Request
from sim.scenario import RequestSpec


def request(prompt, outputs=(), **extra):
    spec = RequestSpec("r", 0, prompt, 99, outputs, **extra)
    return Request(0, spec, (0, 0.0, "r"), 99)


def tokens(*ids, **extra):
    return request(TokenPrompt(ids), **extra)


def ids_of(numbers, asked, blocks):
    numbers.number(asked, blocks)
    return asked.prefix_ids[:blocks].tolist()


def test_a_new_request_leaves_an_edge_in_its_middle():
    numbers = PrefixIds(2, 99)
    assert ids_of(numbers, tokens(1, 2, 3, 4, 5, 6), 3) == [1, 2, 3]
    assert ids_of(numbers, tokens(1, 2, 3, 4, 9, 9), 3) == [1, 2, 4]
    assert ids_of(numbers, tokens(1, 2, 8, 8, 5, 6), 3) == [1, 5, 6]
    assert ids_of(numbers, tokens(1, 2, 3, 4, 5, 6, 7, 7), 4) == [1, 2, 3, 7]
    assert ids_of(numbers, tokens(1, 2, 8, 8), 2) == [1, 5]
    assert numbers.highest == 7


def test_the_same_block_at_two_depths_is_two_prefixes():
    numbers = PrefixIds(1, 99)
    asked = [(0, 0, 0), (0, 1), (0, 0, 1), (0, 1)]
    found = [ids_of(numbers, tokens(*ids), len(ids)) for ids in asked]
    assert found == [[1, 2, 3], [1, 4], [1, 2, 5], [1, 4]]


def test_no_more_blocks_are_numbered_than_a_table_can_have():
    """A prompt of a billion tokens in blocks of 1 costs what a pool of 3 can hold."""
    numbers = PrefixIds(1, 3)
    asked = request(HashedPrompt((7,) * 20_000, 50_000, 10**9))
    assert ids_of(numbers, asked, 3) == [1, 2, 3]
    assert numbers.highest == 3


def test_lora_and_salt_keep_requests_apart_from_the_first_block_on():
    numbers = PrefixIds(2, 99)
    same = (1, 2, 3, 4)
    plain, again = tokens(*same), tokens(*same)
    salted = request(TokenPrompt(same), cache_salt="x")
    adapted = request(TokenPrompt(same), lora_name="x")
    found = [ids_of(numbers, r, 2) for r in (plain, salted, adapted, again)]
    assert found == [[1, 2], [3, 4], [5, 6], [1, 2]]


def test_outputs_without_token_ids_are_nobody_else_s():
    numbers = PrefixIds(2, 99)
    a, b = (request(TokenPrompt((1, 2, 3)), None) for _ in range(2))
    assert ids_of(numbers, a, 1) == ids_of(numbers, b, 1) == [1]
    first, second = ids_of(numbers, a, 40), ids_of(numbers, b, 40)
    assert first[:1] == second[:1] == [1]
    assert not set(first[1:]) & set(second[1:])
    assert ids_of(numbers, a, 40) == first
    assert ids_of(numbers, a, 60)[:40] == first


def test_scripted_outputs_are_the_next_turn_s_prompt():
    numbers = PrefixIds(2, 99)
    a = request(TokenPrompt((1, 2, 3)), (4, 5, 6, 7))
    assert ids_of(numbers, a, 3) == ids_of(numbers, tokens(1, 2, 3, 4, 5, 6, 8, 8), 3)


def test_trace_blocks_of_other_sizes():
    """Hash blocks of 4 tokens: id 7 stands for the same four, whether cut into 2 or into 3."""
    a, b = (request(HashedPrompt(ids, 4, 10)) for ids in ((7, 8, 9), (7, 8, 5)))
    for size, shared in ((1, 8), (2, 4), (3, 2), (4, 2), (5, 1), (8, 1)):
        numbers = PrefixIds(size, 99)
        blocks = 10 // size
        first, second = ids_of(numbers, a, blocks), ids_of(numbers, b, blocks)
        assert [x == y for x, y in zip(first, second, strict=True)] == [
            i < shared for i in range(blocks)
        ]
        for asked in (a, b):
            asked.prefix_ids = array("i")


def test_ids_of_other_lengths_share_what_the_shorter_one_holds():
    """The first 4 of id 7's tokens are the same, be it an id for 4 tokens or for 8."""
    numbers = PrefixIds(4, 99)
    a, b = (request(HashedPrompt((7, 8), size, 2 * size)) for size in (4, 8))
    first, second = ids_of(numbers, a, 2), ids_of(numbers, b, 2)
    assert first[0] == second[0]
    assert first[1] != second[1]


@settings(max_examples=400, deadline=None)
@given(
    st.integers(1, 3),
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 1), min_size=1, max_size=9).map(tuple),
            st.sampled_from([None, None, None, "x"]),
            st.sampled_from([None, None, None, "x"]),
            st.integers(1, 9),
        ),
        max_size=12,
    ),
)
def test_equal_numbers_are_equal_prefixes(size, asked):
    numbers, meaning = PrefixIds(size, 99), {}
    for ids, salt, lora, most in asked:
        blocks = min(most, len(ids) // size)
        given = request(TokenPrompt(ids), cache_salt=salt, lora_name=lora)
        found = ids_of(numbers, given, blocks)
        assert found == sorted(found)
        for block, number in enumerate(found):
            prefix = (ids[: (block + 1) * size], salt, lora)
            assert meaning.setdefault(number, prefix) == prefix
    assert len(set(meaning.values())) == len(meaning)
