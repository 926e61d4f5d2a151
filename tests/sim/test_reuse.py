from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.events import EventKind
from sim.scenario import Scenario
from sim.simulate import simulate
from sim.traces.mooncake import TraceRow, read_mooncake, to_requests
from sim.traces.reuse import hit_tokens, lru_hits, unlimited_hits, vllm_hit_tokens

MOONCAKE = Path(__file__).parents[3] / "shared/traces/mooncake"


def prompt(line, tokens, *ids):
    return TraceRow(line, 0.0, tokens, 1, ids)


@dataclass
class Known:
    """A trace and what is known of it; `lru` has hit tokens of the later half by capacity."""

    rows: list[TraceRow]
    num_blocks: int
    hit_blocks: int
    hit_tokens: int
    vllm_hit_tokens: int
    wholly_cached: int
    lru: dict[int, int]


# Blocks of 16 tokens. Lines 1, 2, 4 and 6 begin with the same 32; 3 and 5 share nothing.
BY_HAND = Known(
    [
        prompt(1, 40, 1, 2, 3),
        prompt(2, 48, 1, 2, 4),
        prompt(3, 32, 8, 9),
        prompt(4, 48, 1, 2, 4),
        prompt(5, 20, 6, 7),
        prompt(6, 40, 1, 2, 3),
    ],
    num_blocks=16,
    hit_blocks=2 + 3 + 3,
    hit_tokens=32 + 48 + 40,
    vllm_hit_tokens=32 + 32 + 32,
    wholly_cached=2,
    # With 4 blocks, 9 and 8 evict 3 and 4, so line 4 finds 1 and 2; 7 and 6 evict 8 and 4, so
    # line 6 does too. With 5, line 4 finds 4 as well. 8 blocks hold everything.
    lru={4: 32 + 32, 5: 48 + 32, 7: 48 + 32, 8: 48 + 40},
)


def mooncake(name, *known, lru):
    """Numbers of an independent count, and of PyPI kvcache-simulator 0.1.3 (its LRU, in tokens)."""
    path = MOONCAKE / f"{name}_trace.jsonl.gz"
    if not path.exists():
        return {}
    return {name: Known(read_mooncake(path.read_bytes(), 10**6), *known, lru=lru)}


KNOWN = {
    "by hand": BY_HAND,
    **mooncake(
        "conversation",
        288_500,
        105_710,
        54_098_411,
        54_063_104,
        118,
        lru={6_553: 10_394_228},
    ),
    **mooncake(
        "synthetic",
        121_877,
        77_953,
        39_852_661,
        39_802_880,
        213,
        lru={409: 1_939_031, 1_638: 7_159_612, 26_214: 30_190_015},
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_cache_without_end_serves_what_is_known_of_the_trace(name):
    known = KNOWN[name]
    hits = unlimited_hits(known.rows)
    blocks = [len(row.hash_ids) for row in known.rows]
    whole = sum(n == asked for n, asked in zip(hits, blocks, strict=True))
    assert (sum(blocks), sum(hits), whole) == (
        known.num_blocks,
        known.hit_blocks,
        known.wholly_cached,
    )
    assert sum(hit_tokens(known.rows, hits)) == known.hit_tokens
    assert sum(vllm_hit_tokens(known.rows, hits)) == known.vllm_hit_tokens


@pytest.mark.parametrize(
    ("name", "num_blocks"), [(name, size) for name, known in KNOWN.items() for size in known.lru]
)
def test_the_engines_pool_serves_what_an_lru_cache_does(name, num_blocks):
    known = KNOWN[name]
    tokens = hit_tokens(known.rows, lru_hits(known.rows, num_blocks))
    assert sum(tokens[len(tokens) // 2 :]) == known.lru[num_blocks]


def test_a_prompt_larger_than_the_cache_is_refused():
    with pytest.raises(ValueError, match="2 blocks cannot hold a prompt of 3 blocks"):
        lru_hits(BY_HAND.rows, 2)


@st.composite
def traces(draw):
    """Prompts that share beginnings, as a trace of 16-token blocks; their contents beside it.

    A block's id is the number of its whole prefix; of its length too, as the last may be partial.
    """
    rows, contents, numbers = [], [], {}
    for line in range(1, draw(st.integers(2, 12)) + 1):
        content = draw(st.lists(st.integers(0, 1), min_size=2, max_size=6))
        last = draw(st.sampled_from([1, 5, 16]))
        tokens = tuple((c, i) for c in content for i in range(16))[: len(content) * 16 - 16 + last]
        ends = [*range(16, len(tokens), 16), len(tokens)]
        ids = [numbers.setdefault(tokens[:end], len(numbers)) for end in ends]
        rows.append(prompt(line, len(tokens), *ids))
        contents.append(tokens)
    return rows, contents


def longest(content, known, stops):
    """The last of rising stops up to which every beginning is known; 0 when the first is not."""
    best = 0
    for stop in stops:
        if content[:stop] not in known:
            break
        best = stop
    return best


@settings(max_examples=60, deadline=None)
@given(traces(), st.sampled_from([16, 32, 64]))
def test_unlimited_hits_are_the_beginnings_seen_before(trace, block_size):
    rows, contents = trace
    seen, full = set(), set()  # beginnings that end with a block; with a full one of `block_size`
    tokens, vllm = [], []
    for content in contents:
        length = len(content)
        ends = [*range(16, length, 16), length]
        tokens.append(longest(content, seen, ends))
        vllm.append(longest(content, full, range(block_size, length, block_size)))
        seen |= {content[:end] for end in ends}
        full |= {content[:end] for end in range(block_size, length + 1, block_size)}
    hits = unlimited_hits(rows)
    assert hit_tokens(rows, hits) == tokens
    assert vllm_hit_tokens(rows, hits, block_size) == vllm


@settings(max_examples=60, deadline=None)
@given(traces(), st.integers(6, 20))
def test_the_pool_is_a_list_by_last_use_touched_from_the_end_of_a_prompt(trace, num_blocks):
    rows, _ = trace
    by_last_use, expected = [], []
    for row in rows:
        held = [block in by_last_use for block in row.hash_ids]
        expected.append([*held, False].index(False))
        for block in reversed(row.hash_ids):
            if block in by_last_use:
                by_last_use.remove(block)
            elif len(by_last_use) == num_blocks:
                by_last_use.pop(0)
            by_last_use.append(block)
    assert lru_hits(rows, num_blocks) == expected


@settings(max_examples=40, deadline=None)
@given(traces(), st.sampled_from([16, 32]))
def test_vllms_rule_is_what_the_engine_reads_of_real_prompts(trace, block_size):
    rows, _ = trace
    requests = to_requests(rows, 1.0)
    columns = simulate(Scenario(500, block_size, requests, max_num_seqs=1)).columns
    read = columns["a"][columns["kind"] == EventKind.ADMIT].tolist()
    assert read == vllm_hit_tokens(rows, unlimited_hits(rows), block_size)
