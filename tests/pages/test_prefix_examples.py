"""The examples of Prefix sharing, and what is drawn below them: three views, both free orders."""

import random
import re
from dataclasses import replace
from itertools import permutations

import pytest

from pages.figures.prefix_text import PrefixText
from pages.figures.prefix_tokens import read_tokens, show_token
from pages.figures.prefix_versions import OLD_AND_NEW, at_step, differ, free_orders
from pages.figures.prefix_views import answer, count_blocks, views
from pages.ui.prompt_examples import DOCUMENTED, PROMPT_EXAMPLES, point_of
from pages.ui.prompts import IDS, MAX_OUTPUTS, Prompt, finishing, scenario_of
from sim.checked import ScenarioError
from sim.documented import TIME_TO_STEP, documented_example
from sim.events import EventKind
from sim.hash_chain import hash_chain
from sim.simulate import simulate
from sim.verdict import lookups

BY_SLUG = {example.slug: example for example in PROMPT_EXAMPLES}


def both(scenario):
    return {version: simulate(replace(scenario, version=version)) for version in OLD_AND_NEW}


def held(logs):
    return lambda version, step: at_step(logs[version], step)


def tables(frame):
    return [request.block_table for request in frame.requests.values()]


@pytest.mark.parametrize("version", OLD_AND_NEW)
def test_the_documented_example_is_vllms(version):
    """As letters it decides as the ids of sim.documented do, which are checked against the page."""
    ours = simulate(replace(DOCUMENTED.scenario, version=version))
    theirs = simulate(documented_example(version))

    assert ours.num_steps == theirs.num_steps
    for step in range(ours.num_steps):
        assert tables(ours.frame(step)) == tables(theirs.frame(step))
        assert ours.frame(step).free_queue.tolist() == theirs.frame(step).free_queue.tolist()


def test_the_points_of_the_examples():
    """By hand: vLLM's page has 0 1 2 and 7 8 9 4 3 at Time 7, one less than here."""
    told = {example.slug: point_of(example) for example in PROMPT_EXAMPLES}

    assert "hits blocks 1, 2 and 3 and takes 8, 9, 10, 5 and 4; in" in told["documented"]
    assert "0.26.0 it takes 7, 5, 8, 9 and 10." in told["documented"]
    assert "hits 8 of its 16 tokens. C differs in none and hits 12, D" in told["one-word"]
    assert "of 50 prompt tokens 26 are computed" in told["system"]
    assert "yet 12 hit: the last block is computed again, into block 6" in told["exact"]
    assert "C took the hot block 3 at the head: D hits 8 of 15" in told["partial"]
    assert "0.26.0 C takes block 4, which B gave back, and D hits 12." in told["partial"]
    assert not any("{" in sentence for sentence in told.values())


def test_a_point_is_computed_from_the_run():
    halved = replace(BY_SLUG["one-word"], block_size=2)
    assert "hits 8 of its 16 tokens. C differs in none and hits 14" in point_of(halved)
    assert "blocks of 16" in point_of(halved.cut_into("bytes"))


def test_a_chat_hits_what_was_answered():
    """A's 6 tokens and the first 5 of its answer are computed: 2 blocks of 4 are full."""
    chat = BY_SLUG["chat"]
    for tokens, block in (("words", "Paris ? A·0 A·1"), ("ids", "5 6 A·0 A·1")):
        log = simulate(chat.cut_into(tokens).scenario)
        assert PrefixText(log, tokens).block(1, 1) == block
        assert [lookup.num_hits for lookup in lookups(log)] == [0, 2, 5]


# --- both free orders ---------------------------------------------------------------------------


def read_back(html):
    """label -> (old, new), each a list of chips as (state, block), and whether the row is marked"""
    rows = re.findall(r"<tr( class=now)?><th>([^<]+)</th><td>(.*?)</td><td>(.*?)</td></tr>", html)
    return {label: ([chips(old), chips(new)], bool(now)) for now, label, old, new in rows}


def chips(html):
    return [(s, int(b)) for s, b in re.findall(r'class="chip (\w+)"[^>]*>(\d+)<', html)]


@pytest.mark.parametrize("example", PROMPT_EXAMPLES, ids=lambda example: example.slug)
def test_both_free_orders_are_drawn_as_the_logs_say(example):
    logs = both(example.scenario)
    steps = {f"Step {step}": step for step in range(min(log.num_steps for log in logs.values()))}
    drawn = read_back(free_orders(steps, example.step, held(logs)))

    assert [label for label, (_, now) in drawn.items() if now] == [f"Step {example.step}"]
    for label, step in steps.items():
        for version, got in zip(OLD_AND_NEW, drawn[label][0], strict=True):
            frame = logs[version].frame(step)
            shared = [
                ("shared" if frame.ref_cnt[block] > 1 else "held", block)
                for table in tables(frame)
                for block in table
            ]
            free = [
                ("cached" if frame.prefix_id[block] >= 0 else "free", block)
                for block in frame.free_queue.tolist()
            ]
            assert got == shared + free


def test_the_times_of_vllms_page():
    logs = both(DOCUMENTED.scenario)
    drawn = read_back(free_orders({f"Time {t}": s for t, s in TIME_TO_STEP.items()}, 5, held(logs)))
    (old, new), now = drawn["Time 6"]

    assert now
    assert [block - 1 for _, block in old] == [7, 8, 9, 4, 3, 2, 6, 5, 1, 0]
    assert [block - 1 for _, block in new] == [6, 4, 7, 8, 9, 3, 2, 5, 1, 0]
    assert "1 hash is dropped before 0.26, 0 hashes are in 0.26.0" in differ(logs)


def test_orders_that_cost_no_hash_are_said_to():
    logs = both(BY_SLUG["one-word"].scenario)
    assert "different blocks: no hash is dropped in either. " in differ(logs)


def test_orders_that_change_nothing_are_said_to():
    alone = scenario_of("test", [Prompt("a b c d", 0, 1)], 4, 8)
    assert differ(both(alone)).startswith("In this run both orders hand out the same blocks.")


def test_a_run_that_ended_before_is_said_to():
    scenario = scenario_of("test", [Prompt("a b c d", 0, 1)], 4, 8)
    html = free_orders({"Step 7": 7}, 7, held(both(scenario)))
    assert html.count("ended before") == 2


# --- three views --------------------------------------------------------------------------------


def counted(scenario):
    log = simulate(scenario)
    return count_blocks(PrefixText(log))


def test_the_views_of_one_word():
    """A 4, B 2 more, C's last one again, D 4 under its salt."""
    counts = counted(BY_SLUG["one-word"].scenario)
    assert (counts.apart, counts.chain, counts.tree) == (16, 11, 10)
    assert "4 prompts still take 16 blocks, each its own" in answer(counts)
    assert "they lie in 11." in answer(counts)
    assert "has 10 blocks, 1 fewer" in answer(counts)


def test_a_block_that_an_answer_filled_counts_once():
    """A's answer fills block 2; B and C, long after, hit it, and add a block for their words."""
    quoting = "a b c d A·0 A·1 A·2 A·3 x"
    prompts = [Prompt("a b c d", 0, 6), Prompt(quoting, 8, 1), Prompt(quoting, 9, 1)]
    counts = counted(scenario_of("test", prompts, 4, 16))
    assert (counts.apart, counts.chain, counts.tree) == (7, 4, 3)


def slow_tree(scenario):
    """Distinct (salt, tokens up to a block's end) that are no start of another in that block."""
    size = scenario.block_size
    ends = {
        (spec.cache_salt, spec.prompt.token_ids[: end + size])
        for spec in scenario.requests
        for end in range(0, spec.prompt.num_tokens, size)
    }
    return len(
        [
            (salt, ids)
            for salt, ids in ends
            if not any(
                salt == s and len(ids) < len(more) and more[: len(ids)] == ids
                for s, more in ends
                if len(more) <= -(-len(ids) // size) * size
            )
        ]
    )


@pytest.mark.parametrize("seed", range(25))
def test_the_tree_has_each_block_once(seed):
    draw = random.Random(seed)
    prompts = [
        Prompt(
            " ".join(draw.choices("ab", k=draw.randint(1, 9))),
            draw.randint(0, 4),
            draw.randint(1, 5),
            draw.choice(["", "", "salt"]),
        )
        for _ in IDS
    ]
    scenario = scenario_of("test", prompts, draw.randint(1, 4), 64)
    counts = counted(scenario)

    assert counts.tree == slow_tree(scenario)
    assert counts.apart >= counts.chain >= counts.tree


@pytest.mark.parametrize("example", PROMPT_EXAMPLES, ids=lambda example: example.slug)
def test_the_views_draw_what_they_count(example):
    log = simulate(example.scenario)
    apart = simulate(replace(example.scenario, enable_prefix_caching=False))
    text = PrefixText(log)
    counts = count_blocks(text)
    table, chain, tree = views(counts, apart, text).split("<h4>")[1:]

    assert table.count('class="chip held"') == table.count('class="chip ') == counts.apart
    assert chain.count('class="chip ') == counts.apart
    assert tree.count('class="chip ') >= counts.tree
    assert len(re.findall('class="chip (held|shared|partial)"', tree)) == counts.tree
    assert chain.count('class="chip hit"') == sum(lookup.num_hits for lookup in lookups(log))


# --- tokens and finish order --------------------------------------------------------------------


def test_each_byte_is_shown_in_its_own_way():
    assert len({show_token(byte, "bytes") for byte in range(256)}) == 256
    assert "".join(show_token(b, "bytes") for b in read_tokens("a é", "bytes")) == "a␣c3a9"


def test_ids_are_read_shown_and_hashed_as_they_are():
    scenario = scenario_of("test", [Prompt("7, 0 999999\n12", 0, 2)], 4, 8, tokens="ids")
    text = PrefixText(simulate(scenario), "ids")

    assert scenario.requests[0].prompt.token_ids == (7, 0, 999_999, 12)
    assert text.words[0] == ["7", "0", "999999", "12", "A·0", "A·1"]
    assert text.chains[0] == [hash_chain((7, 0, 999_999, 12), 4)[0].hex()]


def test_a_quoted_answer_is_the_token_that_was_answered():
    scenario = scenario_of("test", [Prompt("a", 0, 2), Prompt("A·1", 1, 1)], 4, 8)
    quoted = scenario.requests[0].output_token_ids[1]
    assert scenario.requests[1].prompt.token_ids == (quoted,)
    assert read_tokens("A·1", "ids") == [quoted]


@pytest.mark.parametrize("bad", ["x", "1000000", "-1", "1.5", "٣"])
def test_what_is_no_id_is_refused_with_it(bad):
    with pytest.raises(ScenarioError, match="0 to 999,999 would do") as refused:
        scenario_of("test", [Prompt(f"1 {bad}", 0, 1)], 4, 8, tokens="ids")
    assert f"'{bad}'" in str(refused.value)
    assert refused.value.field == "A"


@pytest.mark.parametrize("order", ["".join(order) for order in permutations(IDS)])
def test_requests_end_in_the_order_asked_for(order):
    example = BY_SLUG["one-word"]
    log = simulate(scenario_of("test", finishing(example.prompts, order), 4, 64))
    ended = log.columns["request"][log.columns["kind"] == EventKind.FINISH].tolist()
    assert "".join(IDS[r] for r in ended) == order


def test_an_order_that_takes_too_long_is_refused():
    prompts = [Prompt("a", 0, 1), Prompt("b", MAX_OUTPUTS, 1)]
    with pytest.raises(ScenarioError, match="A needs 33 answer tokens; at most 32") as refused:
        finishing(prompts, "AB")
    assert refused.value.field == "finish"
