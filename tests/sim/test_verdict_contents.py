"""What counts as the same for a verdict: answers as far as they were given, the ids of a trace."""

from dataclasses import replace

import pytest

from sim.prompt import HashedPrompt
from sim.scenario import Abort, RequestSpec
from sim.verdict import Reason, Verdict
from tests.sim.told import WORDS, found, spec, told


def traced(name, ids, num_tokens, size=4):
    return RequestSpec(name, 0, HashedPrompt(ids, size, num_tokens), 1)


@pytest.mark.parametrize(
    ("outputs", "aborts", "known"),
    [
        (8, (), 8),  # A runs: 4 tokens at first, one more in each of the steps 0 to 3
        (3, (), 7),  # A is done: all of its answer is known
        (8, (Abort(2, "before", ("A",)),), 6),  # steps 0 and 1 gave a token each
        (8, (Abort(2, "mid", ("A",)),), 6),  # that of step 2 was thrown away
    ],
)
def test_an_answer_counts_as_far_as_it_was_given(outputs, aborts, known):
    a = replace(spec("A", WORDS[:4], outputs), output_token_ids=WORDS[4 : 4 + outputs])
    p, b = spec("P", range(50, 52), 9), spec("B", WORDS, arrival=4)
    verdict = told(p, a, b, aborts=aborts)[known // 4]
    assert verdict == Verdict(*(4, 2, known // 4, Reason.ENDS), other=1, token=known)


def test_an_answer_to_come_is_like_nothing():
    a = replace(spec("A", WORDS[:4], 8), output_token_ids=WORDS[4:12])
    b = spec("B", (99, *WORDS[1:12]))
    assert [(v.reason, v.other) for v in told(a, b)] == [
        (Reason.TOKEN, 0),
        (Reason.PARENT, None),
        (Reason.PARENT, None),
    ]


def test_nor_does_ones_own_answer_to_come_make_another_closer():
    a, b = spec("A", WORDS[:8], lora_name="a"), spec("B", WORDS, lora_name="b")
    c = replace(spec("C", WORDS[:8], 8), output_token_ids=WORDS[8:])
    assert told(a, b, c)[0] == Verdict(0, 2, 0, Reason.LORA, other=0)


def test_a_preempted_request_finds_its_own_answer_again():
    """Five blocks: both hold two when A takes the last at step 5, so B waits until A is done."""
    both = [spec("A", WORDS[:4], 9), spec("B", range(50, 54), 9)]
    first, again = found(*(replace(s, output_token_ids=None) for s in both), blocks=6)
    assert not first.resumed
    assert first.verdicts == (Verdict(0, 1, 0, Reason.TOKEN, other=0, token=0),)
    assert again.resumed
    assert again.verdicts == (
        Verdict(9, 1, 0, Reason.HIT, block=2, other=1, since=0),
        Verdict(9, 1, 1, Reason.HIT, block=4, other=1, since=4),
        Verdict(9, 1, 2, Reason.NOT_FULL, token=9),
    )


@pytest.mark.parametrize(
    ("block_size", "hits", "behind"),
    [(2, 4, 3), (3, 2, 2), (4, 2, 1), (6, 1, 0), (8, 1, 0), (16, 0, 0)],
)
def test_ids_of_4_tokens_tell_from_where_on_they_differ(block_size, hits, behind):
    a, b = traced("A", (7, 8, 9, 9), 16), traced("B", (7, 8, 1, 1), 16)
    full = told(a, b, block_size=block_size)[: 16 // block_size]
    assert [v.reason for v in full] == [
        *[Reason.HIT] * hits,
        Reason.TOKEN,
        *[Reason.PARENT] * behind,
    ]
    assert full[hits] == Verdict(0, 1, hits, Reason.TOKEN, other=0, token=8, exact=False)


def test_a_trace_tells_exactly_where_a_prompt_ends():
    a, b = traced("A", (7, 8), 6), traced("B", (7, 8, 9), 12)
    assert told(a, b)[1] == Verdict(0, 1, 1, Reason.ENDS, other=0, token=6)


def test_the_same_ids_as_tokens_share_nothing():
    a, b = traced("A", WORDS, 16, size=1), spec("B", WORDS)
    assert told(a, b)[0] == Verdict(0, 1, 0, Reason.TOKEN, other=0, token=0, exact=False)
