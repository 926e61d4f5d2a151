"""The sentences of Prefix sharing: each says what the log says, and nothing else."""

from dataclasses import replace

import pytest

from pages.figures.prefix import prefix_blob
from pages.figures.prefix_tables import free_queue, hash_chains, shared_blocks
from pages.figures.prefix_text import PrefixText, parts, plain
from pages.figures.prefix_why import FINDINGS, WHY, finding, label, why
from pages.ui.prompts import Prompt, scenario_of
from sim.columns import unpack
from sim.scenario import Reset
from sim.simulate import simulate
from sim.verdict import Reason, lookups


def run(*prompts, blocks=24, last=None, **engine):
    """A run of prompts, the last of which may have options that the page does not offer."""
    scenario = scenario_of("test", prompts, 4, blocks)
    *others, spec = scenario.requests
    requests = (*others, replace(spec, **(last or {})))
    return simulate(replace(scenario, requests=requests, **engine))


def answers(log):
    """The words about the last request that was let in: what it found, then block by block."""
    text, lookup = PrefixText(log), lookups(log)[-1]
    told = [plain(why(verdict, lookup, text)) for verdict in lookup.verdicts]
    return [plain(text.name(lookup.request) + finding(lookup, text)), *told]


A = Prompt("a b c d e f g h", 0, 2)


def hashes(log, request):
    return [key[:4] for key in PrefixText(log).chains[request]]


def test_the_first():
    log = run(A)
    assert answers(log)[:2] == [
        "A comes first: nothing is cached yet, all 8 tokens are computed.",
        "Why is A’s block 0 new? Nothing was cached before. Its tokens are computed, and its block "
        f"is kept under the hash {hashes(log, 0)[0]} for whoever comes next.",
    ]


def test_another_word():
    log = run(A, Prompt("a b X d e f g h i", 0, 1))
    ours, theirs = hashes(log, 1), hashes(log, 0)
    assert answers(log) == [
        "B: 0 of 9 tokens hit. Token 2 is “X” where A has “c”, and all behind it misses too.",
        f"Why did B’s block 0 miss? Token 2 is “X”, A has “c”: {ours[0]} ≠ {theirs[0]}. Block 1 "
        "has A’s words, but its hash covers its parent’s hash, so it misses too.",
        "Why did B’s block 1 miss? It has A’s words, but its hash covers the hash of block 0, "
        f"which missed: {ours[1]} ≠ {theirs[1]}.",
        "Why can B’s block 2 not hit? It had 1 of 4 tokens, and only a full block has a hash.",
    ]


def test_the_same_words_held_back():
    log = run(A, Prompt(A.text, 0, 1))
    keys = hashes(log, 0)
    assert answers(log) == [
        "B: 4 of 8 tokens hit. The last block is held back, as one token must be computed to get "
        "logits.",
        "Why did B’s block 0 hit? Block 1 held its 4 tokens: A computed them at step 0. The same "
        f"tokens under the same salt have the same hash, {keys[0]}.",
        "Why is B’s block 1 held back? Block 2 held it, but at most ⌊(8 − 1) / 4⌋ = 1 block can "
        "hit: one token must be computed to get logits. So it was computed once more, and two "
        f"blocks have the hash {keys[1]}.",
    ]


def test_another_salt():
    log = run(A, Prompt(A.text, 0, 1, "x"))
    ours, theirs = hashes(log, 1), hashes(log, 0)
    assert answers(log)[:2] == [
        "B has A’s words but another salt. The salt enters the first hash, every later hash "
        "follows: 0 of 8 tokens hit.",
        "Why did B’s block 0 miss? A has the same words, but no salt, and B has the salt “x”. The "
        f"salt enters the first hash, and every later hash follows: {ours[0]} ≠ {theirs[0]}.",
    ]


def test_a_shorter_prompt_that_ends_first():
    assert answers(run(Prompt("a b c d e", 0, 2), A))[::2] == [
        "B: 4 of 8 tokens hit. A’s prompt is the same, but ends after 5 tokens.",
        "Why did B’s block 1 miss? A’s prompt is the same, but ends in this block, after 5 tokens.",
    ]


def test_eviction():
    log = run(Prompt(A.text, 0, 1), Prompt("s t u v w x y z", 2, 1), Prompt(A.text, 4, 1), blocks=4)
    assert answers(log)[::2] == [
        "C: 4 of 8 tokens hit. B took block 2 at step 2, so what it held is computed once more.",
        "Why did C’s block 1 miss? Block 2 held it until step 2. Then B took that block from the "
        f"head of the free queue, and the hash {hashes(log, 0)[1]} was dropped.",
    ]


def test_another_lora():
    log = run(A, Prompt(A.text, 0, 1), last={"lora_name": "tuned"})
    ours, theirs = hashes(log, 1), hashes(log, 0)
    assert ours[0] != theirs[0]
    assert answers(log)[:2] == [
        "B has A’s words but another LoRA, and the LoRA’s name enters every hash: 0 of 8 tokens "
        "hit.",
        "Why did B’s block 0 miss? A has the same words, but no LoRA, and B has the LoRA “tuned”. "
        f"The LoRA’s name enters every hash: {ours[0]} ≠ {theirs[0]}.",
    ]


def test_a_reset():
    log = run(Prompt(A.text, 0, 1), Prompt(A.text, 2, 1), resets=(Reset(2, False),))
    assert answers(log)[:2] == [
        "B: 0 of 8 tokens hit. The prefix cache was reset at step 2, so what it held is computed "
        "once more.",
        "Why did B’s block 0 miss? Block 1 held it until step 2. Then the prefix cache was reset, "
        f"and every hash was dropped, {hashes(log, 0)[0]} too.",
    ]


def test_caching_off():
    log = run(A, Prompt(A.text, 0, 1), enable_prefix_caching=False)
    assert answers(log)[:2] == [
        "B: 0 of 8 tokens hit, as prefix caching is off.",
        "Why was B’s block 0 not looked up? Prefix caching is off: no block gets a hash, and every "
        "token is computed.",
    ]


def test_a_request_that_does_not_read():
    log = run(A, Prompt(A.text, 0, 1), last={"skip_reading_prefix_cache": True})
    assert answers(log)[:2] == [
        "B: 0 of 8 tokens hit, as it skips reading the prefix cache.",
        "Why was B’s block 0 not looked up? B skips reading the prefix cache, so its tokens are "
        "computed. Its blocks get their hashes all the same, for others.",
    ]
    assert label(lookups(log)[-1].verdicts[0]) == "no lookup"
    found = unpack(prefix_blob(PrefixText(log), "B", 0))[0]["lookups"][1]
    assert found["summary"] == "0 of 8 tokens hit"


def test_every_reason_has_words():
    assert set(WHY) == set(FINDINGS) == set(Reason)


def test_a_preempted_request_comes_back_for_its_answer_too():
    """Five blocks: both hold two when A takes the last, so B gives way until A is done."""
    log = run(Prompt("a b c d", 0, 9), Prompt("s t u v", 0, 9), blocks=6)
    assert answers(log) == [
        "B comes back: 8 of 9 tokens hit, all that is in full blocks.",
        "Why did B’s block 0 hit? Block 2 held its 4 tokens: B computed them at step 0. The same "
        f"tokens under the same salt have the same hash, {hashes(log, 1)[0]}.",
        "Why did B’s block 1 hit? Block 4 held its 4 tokens and all that comes before them: B "
        "computed them at step 4. The same tokens under the same salt have the same hash, "
        f"{hashes(log, 1)[1]}.",
        "Why can B’s block 2 not hit? It had 1 of 4 tokens, and only a full block has a hash.",
    ]


def test_a_prompt_too_short_for_a_block():
    assert answers(run(A, Prompt("a b", 0, 1)))[0] == (
        "B: 0 of 2 tokens hit. It fills no block, and only full blocks have a hash."
    )


@pytest.mark.parametrize("word", ["*", "`", "_", "<", "\\"])
def test_any_sign_is_shown_as_it_is(word):
    told = answers(run(A, Prompt(f"{word} {word} b c d", 0, 1)))
    assert f"Token 0 is “{word}”, A has “a”" in told[1]


def test_marks_become_parts():
    assert parts("**Why?** As `3c7f` ≠ `57a7`.") == [
        {"text": "Why?", "bold": True},
        {"text": " As "},
        {"text": "3c7f", "mono": True},
        {"text": " ≠ "},
        {"text": "57a7", "mono": True},
        {"text": "."},
    ]


def test_the_blob_names_every_hash_of_the_log():
    log = run(A, Prompt(A.text, 1, 6))
    header, columns = unpack(prefix_blob(PrefixText(log), "B", 1))
    assert header["view"] == {"request": "B", "block": 1}
    assert header["prompts"] == [A.text.split()] * 2
    ours, theirs = header["prefixes"]
    assert ours == theirs[:2]
    assert len(set(theirs)) == 3
    assert header["hashes"] == dict(zip(map(str, theirs), header["chains"][1], strict=True))
    assert columns["kind"].tolist() == log.columns["kind"].tolist()


def test_tables_agree_with_the_frame():
    log = run(A, Prompt(A.text, 1, 3))
    text = PrefixText(log)
    frame = log.frame(1)
    shared = shared_blocks(frame, text)
    assert shared[["block", "held by", "ref count"]].values.tolist() == [
        *([1, "A, B", 2], [2, "A", 1], [4, "B", 1])
    ]
    assert shared["tokens"].tolist() == ["a b c d", "e f g h", "e f g h"]
    assert shared["hash"][1] == shared["hash"][2] == text.chains[0][1][:16]

    last = log.frame(log.num_steps - 1)
    queue = free_queue(last, text)
    assert queue["block"].tolist() == last.free_queue.tolist()
    hashed = [block for block in last.free_queue.tolist() if last.prefix_id[block] >= 0]
    assert queue["block"][queue["hash"] != ""].tolist() == hashed


def test_a_chain_names_the_parent():
    log = run(A, Prompt("a b c d e", 1, 1, "x"))
    table = hash_chains(1, lookups(log), PrefixText(log))
    assert table["parent"].tolist() == ["", table["hash"][0], "", table["hash"][2]]
    assert table["hash"].tolist() == [
        *(k[:16] for k in PrefixText(log).chains[0][:2]),
        table["hash"][2],
        "",
    ]
    assert table["salt"].tolist() == ["", "", "x", ""]
    assert table["found"].tolist() == ["new", "new", "miss", "not full"]
    assert len(hash_chains(0, lookups(log), PrefixText(log))) == 2
