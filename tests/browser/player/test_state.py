"""What the player shows at a step, against the log."""

import random
from typing import Any

import pytest

from sim.events import EventKind, Hazard
from sim.frame import Frame
from tests.browser.player.driver import part, read, recorded, seek
from tests.browser.player.hand_log import EXPECTED, STEPS
from tests.browser.player.workload import busy_log


def as_shown(frame: Frame) -> dict[str, Any]:
    requests = frame.requests.values()
    return {
        "ref": frame.ref_cnt.tolist(),
        "prefix": frame.prefix_id.tolist(),
        "fill": frame.fill.tolist(),
        "freeQueue": frame.free_queue.tolist(),
        "running": list(frame.running),
        "waiting": list(frame.waiting),
        "tables": {r.request_id: list(map(int, r.block_table)) for r in requests if r.block_table},
        "computed": {r.request_id: int(r.num_computed_tokens) for r in requests},
        "tokens": {r.request_id: int(r.num_tokens) for r in requests},
    }


def test_each_step_shows_what_its_rows_say(hand):
    for step, expected in enumerate(EXPECTED):
        shown = seek(hand, step)
        assert part(shown, expected) == expected, f"step {step}"
        assert shown["invariants"] == [True] * 4


def test_backward_is_forward(hand):
    forward = [seek(hand, step) for step in range(len(STEPS))]
    backward = [seek(hand, step) for step in reversed(range(len(STEPS)))]

    for there, back in zip(forward, reversed(backward), strict=True):
        assert {**there, "frames": 0} == {**back, "frames": 0}


def test_owners_and_hues(hand):
    assert seek(hand, 3)["owners"] == [[], ["A", "B"], ["A"], ["B"], ["A"], ["B"]]
    assert read(hand)["hues"] == {"A": 0, "B": 1}
    assert seek(hand, 4)["hues"] == {"B": 1}, "B keeps its hue when A leaves"
    assert seek(hand, 10)["hues"] == {"C": 0}


def test_the_legend_adds_up(hand):
    for step in range(len(STEPS)):
        counts = dict(seek(hand, step)["legend"])
        parts = ("in use", "cached, free", "free, no hash", "null")
        assert sum(counts[name] for name in parts) == 6
    assert seek(hand, 1)["legend"][:2] == [["A", 2], ["B", 2]]
    assert dict(read(hand)["legend"])["shared"] == 1


def test_sentences_say_what_happened_and_why(hand):
    sentences = [seek(hand, step)["sentence"] for step in range(len(STEPS))]

    assert (
        sentences[0]
        == "A is admitted: no hit; tokens 0–2 take blocks 1, 2 from the free queue’s head."
    )
    assert sentences[1] == (
        "B is admitted: 2 tokens hit, shared with A; "
        "token 2 takes block 3 from the free queue’s head."
    )
    assert sentences[4] == (
        "C waits: 1 block is missing, and nobody overtakes it. "
        "A reached its length limit and gave back 3 blocks, "
        "two still cached, one still held by others."
    )
    assert sentences[5].startswith(
        "B has no room for token 6 and takes block 4 from the free queue’s head, "
        "which drops its cached hash."
    )
    assert sentences[8] == "B computes token 9; the last goes to block 2, slot 5."
    assert sentences[9] == (
        "B finds no free block, so as the last admitted it gives back 5 blocks "
        "and will compute its 11 tokens again."
    )
    assert sentences[10].endswith("B was aborted and held no block.")
    assert sentences[11] == "C reached its length limit and gave back 3 blocks, two still cached."


def test_what_goes_wrong_in_vllm_itself_is_told_first(open_player):
    page = open_player("log=hazards")
    sentences = [seek(page, hazard)["sentence"] for hazard in Hazard]

    assert [sentence.split(".")[0] for sentence in sentences[:3]] == [
        "B can never be admitted: it needs 9 blocks, more than the 5 there are",
        "B runs alone and still finds no free block, so it gives way to itself",
        "B stands at max_model_len and may not stop: it keeps its blocks and gets nothing",
    ]
    assert sentences[3].startswith(
        "B was to compute 2 blocks that already have their hashes, and now nobody will."
    )
    assert sentences[4].startswith(
        "B hits 2 blocks that nobody computed: vLLM 0.26.0 reads what is not there."
    )


@pytest.mark.parametrize("name", ["fuzz_05", "pool_pressure_no_caching", "busy_1100_120"])
def test_any_seek_shows_the_frame_of_the_log(open_player, root, name):
    """Python finds a frame with NumPy over all rows; the browser replays from a keyframe."""
    page = open_player(f"log={name}")
    log = recorded(root, name)
    steps = random.Random(0).choices(range(log.num_steps), k=20)

    for step in [*steps, log.num_steps - 1, 0]:
        expected = as_shown(log.frame(step))
        shown = seek(page, step)
        assert part(shown, expected) == expected, f"step {step}"
        assert shown["invariants"] == [True] * 4


def test_the_way_to_a_step_does_not_matter(open_player):
    """Over keyframes too, all that is drawn is a function of the step."""
    page = open_player("log=fuzz_05")
    page.wait_for_function("window.__player.p.read().history.used.every(n => n >= 0)")
    steps = range(0, 302, 11)

    forward = [seek(page, step) for step in steps]
    backward = [seek(page, step) for step in reversed(steps)]

    for there, back in zip(forward, reversed(backward), strict=True):
        assert {**there, "frames": 0} == {**back, "frames": 0}


def test_evictions_are_shown_whichever_way_a_step_is_reached(open_player):
    """Steps 128 and 192 are keyframes of the browser's; both cost hashes."""
    page = open_player("log=fuzz_05")
    for step in (128, 192):
        forward = [seek(page, at)["evicted"] for at in (step - 1, step)][-1]
        backward = [seek(page, at)["evicted"] for at in (step + 40, step)][-1]
        assert forward == backward != []


def test_a_busy_log_has_all_that_can_happen():
    kinds = set(busy_log(1_100, 120).columns["kind"].tolist())

    wanted = {"LOOKUP", "TOUCH", "TAKE", "CACHE", "RELEASE", "PREEMPT", "ADMIT", "FINISH"}
    assert {EventKind[name] for name in wanted} <= kinds
