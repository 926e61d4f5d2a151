"""Block hashes are vLLM's own, as its recordings show them."""

from pathlib import Path

import pytest

from sim.conformance import load
from sim.hash_chain import hash_chain

GOLDEN = Path(__file__).parents[1] / "golden"
RECORDINGS = sorted(GOLDEN.glob("tiny_*.json.gz"))


def chains(recording):
    scenario = recording["scenario"]
    return {
        request["id"]: hash_chain(
            request["prompt_token_ids"] + request["output_token_ids"],
            scenario["block_size"],
            request.get("cache_salt"),
            request.get("lora_name"),
        )
        for request in scenario["requests"]
    }


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name.split(".")[0])
def test_every_recorded_hash_is_ours(path):
    recording = load(path)
    size, ours = recording["scenario"]["block_size"], chains(recording)
    cached = [e for step in recording["steps"] for e in step.get("ev", ()) if e[0] == "cache"]

    assert cached or not recording["scenario"]["enable_prefix_caching"]
    for _, request, _, theirs, tokens in cached:
        assert ours[request][tokens // size - 1][:8].hex() == theirs


def test_a_salt_changes_the_first_hash_and_so_all_later_ones():
    plain, salted = hash_chain(range(8), 4), hash_chain(range(8), 4, "x")
    moved = hash_chain(range(8), 4, lora_name="x")

    assert [a == b for a, b in zip(plain, salted, strict=True)] == [False, False]
    assert salted[0] == moved[0]  # vLLM keeps no names beside its extra keys
    assert salted[1] != moved[1]  # the LoRA name is in every block


def test_only_full_blocks_have_a_hash():
    assert [len(hash_chain(range(n), 4)) for n in (0, 3, 4, 7, 8)] == [0, 0, 1, 1, 2]
