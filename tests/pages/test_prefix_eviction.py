"""Why a block was evicted, and what its life was: each sentence by hand, in blocks of 4."""

from pages.figures.prefix import prefix_blob
from pages.figures.prefix_eviction import cost, listed, why_evicted, words_lost
from pages.figures.prefix_text import PrefixText, plain
from pages.ui.block_life import lines
from pages.ui.prompt_examples import DOCUMENTED
from pages.ui.prompts import Prompt, scenario_of
from sim.columns import unpack
from sim.eviction import evictions
from sim.simulate import simulate

A, S = "a b c d e f g h", "s t u v w x y z"


def run(*prompts, blocks=4, version="0.26.0"):
    log = simulate(scenario_of("test", prompts, 4, blocks, version))
    return PrefixText(log), evictions(log)


def answer(text, lost):
    told = why_evicted(text.log, lost, words_lost(text, lost))
    return plain(told).split("? ", 1)[1]


def test_the_one_that_was_free_the_longest():
    text, (lost,) = run(Prompt(A, 0, 1), Prompt(S, 2, 1))
    assert answer(text, lost) == (
        "At step 2 B needed 2 blocks from the head of the free queue: 3, and this one was next. No "
        "block without a hash was left, and it had been free the longest: A gave it back at step "
        f"1, last block first, so none outlives the one before it. "
        f"So “e f g h” (hash {text.short(0, 1)}) can no longer be hit; nobody "
        "needs it again in this run."
    )
    assert cost([lost]) == (
        "Block 2 is evicted: no block without a hash is left, and it had been free the longest."
    )


def test_who_needs_it_again_is_named_and_where():
    text, (lost, *_) = run(Prompt(A, 0, 1), Prompt(S, 2, 1), Prompt(A, 4, 1))
    assert answer(text, lost).endswith(
        "can no longer be hit, and C computes it again at step 4, into block 2."
    )


def test_all_that_one_request_takes():
    """B's first block is the blank 3; C takes what A and B gave back, in that order."""
    text, found = run(Prompt(A, 0, 1), Prompt("s t u v", 2, 1), Prompt("1 2 3 4 5 6 7 8 9", 4, 1))
    assert [lost.block for lost in found] == [2, 1, 3]
    assert cost(found) == (
        "Blocks 2, 1 and 3 are evicted: no block without a hash is left, and they had been free "
        "the longest."
    )
    assert answer(text, found[1]).startswith(
        "At step 4 C needed 3 blocks from the head of the free queue: 2, and this one was next. No "
        "block without a hash was left, and it had been free the longest: A gave it back at step "
        "1. So"
    )


def test_before_026_a_blank_one_may_stand_behind():
    text = PrefixText(simulate(DOCUMENTED.scenario))
    (lost,) = evictions(text.log)
    assert answer(text, lost).startswith(
        "At step 6 C needed 5 blocks from the head of the free queue: 8, 9, 10 and 5, and this one "
        "was next. 1 block without a hash stands behind it, but it had been free the longest: A "
        "gave it back at step 4, last block first, so none outlives the one before "
        "it. So “M N O A·0”"
    )
    assert cost([lost]) == (
        "Block 4 is evicted as it had been free the longest, though 1 block without a hash stands "
        "behind."
    )


def test_a_copy_keeps_it():
    """B computes A's last block again, into 3; C takes the three blank ones and A's."""
    long = " ".join(f"w{k}" for k in range(16))
    text, (lost, *_) = run(Prompt(A, 0, 2), Prompt(A, 0, 2), Prompt(long, 4, 1), blocks=7)
    assert answer(text, lost).endswith(
        f"Block 3 has the same tokens, so “e f g h” (hash {text.short(0, 1)}) can still be hit."
    )


def test_the_player_is_told_of_every_eviction():
    text, found = run(Prompt(A, 0, 1), Prompt(S, 2, 1), Prompt(A, 4, 1))
    losses = unpack(prefix_blob(text, "C", 1))[0]["losses"]
    told = [
        (row["step"], row["request"], loss["block"]) for row in losses for loss in row["blocks"]
    ]
    assert told == [(lost.step, lost.request, lost.block) for lost in found]
    assert plain("".join(part["text"] for part in losses[0]["blocks"][0]["paid"])) == (
        f" Block 2 was evicted for it: it held “e f g h” (hash {text.short(0, 1)})."
    )


def test_a_life_in_words():
    text, _ = run(Prompt(A, 0, 1), Prompt(S, 2, 1), Prompt(A, 4, 1))
    assert [(line.step, line.text) for line in lines(text.log, 2)] == [
        (0, "A takes it as its logical block 1. It is full and gets its hash."),
        (1, "A gives it back, to the free queue’s tail, its hash stays."),
        (
            2,
            "Evicted: at the head of the free queue, free since step 1, it loses its hash. B takes "
            "it as its logical block 1. It is full and gets its hash.",
        ),
        (3, "B gives it back, to the free queue’s tail, its hash stays."),
        (
            4,
            "Evicted: at the head of the free queue, free since step 3, it loses its hash. C takes "
            "it as its logical block 1. It is full and gets its hash.",
        ),
        (5, "C gives it back, to the free queue’s tail, its hash stays."),
    ]


def test_a_life_that_is_shared():
    text, _ = run(Prompt(A, 0, 2), Prompt("a b c d x", 0, 1), blocks=8)
    assert [line.text for line in lines(text.log, 1)] == [
        "A takes it as its logical block 0. It is full and gets its hash. B hits it as its logical "
        "block 0; 2 requests hold it now.",
        "B gives it back; 1 request still holds it.",
        "A gives it back, to the free queue’s tail, its hash stays.",
    ]


def test_many_are_counted():
    assert listed([1]) == "1"
    assert listed([1, 2]) == "1 and 2"
    assert listed([*range(9)]) == "0, 1, 2, 3, 4, 5 and 3 more"
