"""How many leading tokens are the same: of tokens, of a trace's ids, and on into the answers."""

import pytest

from sim.prompt import HashedPrompt, TokenPrompt
from sim.scenario import RequestSpec
from sim.verdict.shared_tokens import is_exact, same_tokens, shared_tokens


def tokens(*ids, answer=()):
    return RequestSpec("t", 0, TokenPrompt(ids), 1, answer or None)


def trace(*ids, num_tokens, size=4, answer=()):
    return RequestSpec("h", 0, HashedPrompt(ids, size, num_tokens), 1, answer or None)


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (tokens(1, 2, 3), tokens(1, 2, 4), 2),
        (tokens(1, 2), tokens(1, 2, 3), 2),
        (tokens(9, 2), tokens(1, 2), 0),
        (tokens(1, 2, answer=(3, 4)), tokens(1, 2, 3, 5), 3),
        (tokens(1, 2, answer=(3, 4)), tokens(1, answer=(2, 3, 4, 5)), 4),
        (trace(1, 2, 3, num_tokens=12), trace(1, 2, 4, num_tokens=12), 8),
        (trace(1, 2, num_tokens=7), trace(1, 2, 3, num_tokens=12), 7),
        (trace(1, 2, num_tokens=7), trace(1, 3, num_tokens=5), 4),
        (trace(1, 2, num_tokens=7, answer=(5, 6)), trace(1, 2, num_tokens=7, answer=(5, 7)), 8),
        (trace(1, 2, num_tokens=7, answer=(5,)), trace(1, 2, num_tokens=8, answer=(5,)), 7),
        (trace(1, 3, num_tokens=8, answer=(5,)), trace(1, 2, num_tokens=8, answer=(5,)), 4),
        (trace(1, 2, num_tokens=8), trace(1, 2, num_tokens=4, size=2), 2),
        (trace(1, 2, num_tokens=8), trace(3, 2, num_tokens=4, size=2), 0),
        (trace(1, num_tokens=3), trace(1, num_tokens=8, size=8), 3),
        (trace(1, 2, num_tokens=2, size=1), tokens(1, 2), 0),
    ],
)
def test_leading_tokens_in_common(one, other, shared):
    assert shared_tokens(one, other) == shared_tokens(other, one) == shared


@pytest.mark.parametrize(
    ("one", "other", "start", "stop", "same"),
    [
        (tokens(1, 2, 3), tokens(9, 2, 3), 1, 3, True),
        (tokens(1, 2, 3), tokens(9, 2, 3), 0, 2, False),
        (tokens(1, 2, 3, 4), tokens(9, 2, answer=(3, 4)), 1, 4, True),
        (tokens(1, 2), tokens(1, 2), 1, 3, False),  # nobody knows token 2
        (trace(1, 2, num_tokens=8), trace(9, 2, num_tokens=8), 4, 8, True),
        (trace(1, 2, num_tokens=8), trace(9, 2, num_tokens=8), 3, 5, False),
        (trace(1, 2, num_tokens=8), trace(1, 3, num_tokens=8), 4, 6, False),
        (trace(1, num_tokens=4), trace(1, num_tokens=8, size=8), 2, 4, True),
        (trace(1, 1, num_tokens=8), trace(1, num_tokens=8, size=8), 4, 6, False),
        (trace(1, num_tokens=4, answer=(5, 6)), trace(9, num_tokens=4, answer=(5, 6)), 4, 6, True),
        (trace(1, num_tokens=3, answer=(5, 6)), trace(9, num_tokens=3, answer=(5, 6)), 3, 5, True),
        (trace(1, num_tokens=3, answer=(5, 6)), trace(1, num_tokens=4, answer=(5, 6)), 3, 5, False),
        (trace(2, num_tokens=1, size=1, answer=(3,)), tokens(2, 3), 0, 2, False),
        (trace(1, num_tokens=4, answer=(5,)), trace(1, 5, num_tokens=5), 4, 5, False),
    ],
)
def test_the_same_stretch_whatever_comes_before(one, other, start, stop, same):
    assert same_tokens(one, other, start, stop) is same_tokens(other, one, start, stop) is same


def test_only_inside_ids_a_position_is_not_exact():
    short, long = trace(1, num_tokens=4), trace(1, 2, num_tokens=8)
    assert is_exact(short, long, 4)
    assert not is_exact(long, long, 4)
    assert not is_exact(long, tokens(1, 2), 0)
    assert is_exact(tokens(1, 2), tokens(1, 3), 1)
