"""Why a block hit or missed: each reason by hand, in blocks of 4."""

import pytest

from sim.scenario import Reset
from sim.verdict import Reason, Verdict
from tests.sim.told import WORDS, found, reasons, spec, told


def test_the_first_has_nothing_to_hit():
    assert reasons(spec("A", WORDS[:9])) == [Reason.FIRST, Reason.FIRST, Reason.NOT_FULL]


def test_one_other_token_and_all_behind_it_miss():
    b = (*WORDS[:9], 99, *WORDS[10:])
    assert told(spec("A", WORDS), spec("B", b)) == [
        Verdict(0, 1, 0, Reason.HIT, block=1, other=0, since=0),
        Verdict(0, 1, 1, Reason.HIT, block=2, other=0, since=0),
        Verdict(0, 1, 2, Reason.TOKEN, other=0, token=9),
        Verdict(0, 1, 3, Reason.PARENT, other=0),
    ]


def test_behind_a_miss_nobody_is_named_whose_tokens_are_others():
    b = (99, *WORDS[1:6], 98, *WORDS[7:])
    assert [(v.reason, v.other) for v in told(spec("A", WORDS), spec("B", b))] == [
        (Reason.TOKEN, 0),
        (Reason.PARENT, None),
        (Reason.PARENT, 0),
        (Reason.PARENT, 0),
    ]


def test_the_last_block_of_a_cached_prompt_is_held_back():
    assert told(spec("A", WORDS[:8]), spec("B", WORDS[:8], arrival=3)) == [
        Verdict(2, 1, 0, Reason.HIT, block=1, other=0, since=0),
        Verdict(2, 1, 1, Reason.HELD_BACK, block=2, other=0, since=0),
    ]


def test_of_two_copies_the_older_is_named_whichever_is_lost_first():
    """A's copy is block 2, B's block 3; of them the first request, the last to come, takes both."""
    taker, *alike = spec("T", range(50, 58), 3, 2), *(spec(name, WORDS[:8]) for name in "ABC")
    expected = Verdict(0, 3, 1, Reason.HELD_BACK, block=2, other=1, since=0)
    assert told(taker, *alike, blocks=6)[1] == expected


def test_a_token_more_and_it_is_not():
    assert reasons(spec("A", WORDS[:8]), spec("B", WORDS[:9])) == [
        *(Reason.HIT, Reason.HIT, Reason.NOT_FULL)
    ]


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ({}, {"cache_salt": "x"}, Reason.SALT),
        ({"cache_salt": "x"}, {}, Reason.SALT),
        ({"cache_salt": "x"}, {"cache_salt": "y"}, Reason.SALT),
        ({}, {"lora_name": "x"}, Reason.LORA),
        ({"lora_name": "x"}, {"lora_name": "y"}, Reason.LORA),
        ({"cache_salt": "x"}, {"lora_name": "x"}, Reason.LORA),
        ({"lora_name": "x"}, {"lora_name": "x", "cache_salt": "x"}, Reason.SALT),
    ],
)
def test_another_salt_or_lora_shares_nothing(a, b, reason):
    assert told(spec("A", WORDS[:8], **a), spec("B", WORDS[:8], **b)) == [
        Verdict(0, 1, 0, reason, other=0),
        Verdict(0, 1, 1, Reason.PARENT, other=0),
    ]


def test_the_same_tokens_up_to_the_end_of_the_block_are_enough():
    a, b = spec("A", WORDS[:4], cache_salt="x"), spec("B", WORDS[:8])
    assert told(a, b) == [
        Verdict(0, 1, 0, Reason.SALT, other=0),
        Verdict(0, 1, 1, Reason.PARENT),
    ]


@pytest.mark.parametrize("same", [{"cache_salt": "x"}, {"lora_name": "x"}])
def test_the_same_salt_or_lora_shares(same):
    alike = [spec(name, WORDS[:9], **same) for name in "AB"]
    assert reasons(spec("P", WORDS[:9]), *alike) == [Reason.HIT, Reason.HIT, Reason.NOT_FULL]


def test_of_two_like_prompts_the_one_with_the_same_salt_is_compared():
    longer = (*WORDS[:5], 99, *WORDS[6:8])
    verdicts = told(
        spec("A", WORDS[:8]),
        spec("B", WORDS[:8], cache_salt="x"),
        spec("C", longer, cache_salt="x"),
    )
    assert verdicts[1] == Verdict(0, 2, 1, Reason.TOKEN, other=1, token=5)


def test_a_prompt_that_ends_inside_the_block_is_said_to_end():
    verdicts = told(spec("A", WORDS[:6]), spec("B", WORDS))
    assert verdicts[1] == Verdict(0, 1, 1, Reason.ENDS, other=0, token=6)


def test_tokens_that_are_still_being_computed_were_never_cached():
    """Each gets 4 tokens in step 0."""
    a, b = spec("A", WORDS), spec("B", WORDS)
    assert told(a, b, long_prefill_token_threshold=4) == [
        Verdict(0, 1, 0, Reason.HIT, block=1, other=0, since=0),
        Verdict(0, 1, 1, Reason.UNCACHED, other=0),
        Verdict(0, 1, 2, Reason.PARENT, other=0),
        Verdict(0, 1, 3, Reason.PARENT, other=0),
    ]


def test_tokens_that_were_not_reached_before_a_preemption_were_never_cached():
    """Three blocks: A's answer takes the last, so B waits with one block computed until A ends."""
    a, b = spec("A", WORDS[:4], 5), spec("B", range(50, 62))
    engine = {"long_prefill_token_threshold": 4, "scheduler_reserve_full_isl": False}
    _, again = found(a, b, blocks=4, **engine)
    assert again.verdicts == (
        Verdict(5, 1, 0, Reason.HIT, block=2, other=1, since=0),
        Verdict(5, 1, 1, Reason.UNCACHED),
        Verdict(5, 1, 2, Reason.PARENT),
    )


def test_an_evicted_block_is_named_with_who_took_it_and_when():
    a, b, c = spec("A", WORDS[:8], 1), spec("B", range(50, 58), 1, 2), spec("C", WORDS[:8], 1, 4)
    assert told(a, b, c, blocks=4) == [
        Verdict(4, 2, 0, Reason.HIT, block=1, other=0, since=0),
        Verdict(4, 2, 1, Reason.EVICTED, block=2, other=1, since=2),
    ]


def test_a_block_evicted_as_an_answer_grows_is_dated_to_that_step():
    a, b, c = spec("A", WORDS[:8]), spec("B", range(50, 54), 5, 2), spec("C", WORDS[:8], 1, 8)
    assert told(a, b, c, blocks=4)[1].since == 3


def test_what_a_reset_took_is_forgotten():
    a, b = spec("A", WORDS[:8]), spec("B", WORDS[:9], 1, 2)
    assert told(a, b, resets=(Reset(2, False),)) == [
        Verdict(2, 1, 0, Reason.FORGOTTEN, block=1, since=2),
        Verdict(2, 1, 1, Reason.FORGOTTEN, block=2, since=2),
        Verdict(2, 1, 2, Reason.NOT_FULL, token=9),
    ]


def test_a_reset_while_a_block_is_held_takes_nothing():
    a, b = spec("A", WORDS[:8], 4), spec("B", WORDS[:8], 1, 2)
    assert reasons(a, b, resets=(Reset(2, False),)) == [Reason.HIT, Reason.HELD_BACK]


def test_of_several_losses_the_last_counts():
    """Two blocks: A's are forgotten, C computes the same again, B takes them."""
    a, c = spec("A", WORDS[:8]), spec("C", WORDS[:8], 1, 2)
    b, d = spec("B", range(50, 58), 1, 4), spec("D", WORDS[:8], 1, 6)
    verdicts = told(a, c, b, d, blocks=3, resets=(Reset(2, False),))
    assert [(v.reason, v.other, v.since) for v in verdicts] == [(Reason.EVICTED, 2, 4)] * 2


def test_a_reset_after_an_eviction_is_the_last_loss():
    """Two blocks: B takes A's, C computes the same again, and step 6 begins with a reset."""
    a, b = spec("A", WORDS[:8]), spec("B", range(50, 58), 1, 2)
    c, d = spec("C", WORDS[:8], 1, 4), spec("D", WORDS[:8], 1, 6)
    verdicts = told(a, b, c, d, blocks=3, resets=(Reset(6, False),))
    assert [(v.reason, v.other, v.since) for v in verdicts] == [(Reason.FORGOTTEN, None, 6)] * 2


def test_with_caching_off_it_says_so():
    a, b = spec("A", WORDS[:9]), spec("B", WORDS[:9], skip_reading_prefix_cache=True)
    assert told(a, b, enable_prefix_caching=False) == [
        Verdict(0, 1, 0, Reason.CACHING_OFF),
        Verdict(0, 1, 1, Reason.CACHING_OFF),
        Verdict(0, 1, 2, Reason.NOT_FULL, token=9),
    ]


def test_a_request_that_does_not_read_the_cache_says_so():
    assert told(spec("A", WORDS[:9]), spec("B", WORDS[:9], skip_reading_prefix_cache=True)) == [
        Verdict(0, 1, 0, Reason.NOT_READ),
        Verdict(0, 1, 1, Reason.NOT_READ),
        Verdict(0, 1, 2, Reason.NOT_FULL, token=9),
    ]
