"""The Prefix sharing page in a browser: what is drawn is what the log says; click, play, reload."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from pages.figures.palette import DARK, LIGHT
from pages.figures.prefix_eviction import cost, given_back, why_evicted, words_lost
from pages.figures.prefix_text import PrefixText, plain
from pages.figures.prefix_versions import OLD_AND_NEW
from pages.figures.prefix_why import why
from pages.ui.prompt_examples import DOCUMENTED, PROMPT_EXAMPLES
from pages.ui.prompts import scenario_of
from sim.block_life import block_life
from sim.eviction import evictions
from sim.simulate import simulate
from sim.verdict import lookups

PLAYER = "Object.values(window.__player)[0]"
BY_SLUG = {example.slug: example for example in PROMPT_EXAMPLES}
ONE_WORD, EVICTION, ONE_STEP = (BY_SLUG[slug] for slug in ("one-word", "eviction", "one-step"))


def both(scenario):
    return {version: simulate(replace(scenario, version=version)) for version in OLD_AND_NEW}


def ready(page):
    expect(page.locator(".player[data-ready=true] .prefix")).to_be_visible()
    return page


def read(page):
    return page.evaluate(f"{PLAYER}.read()")


def at_step(page, step):
    return page.evaluate(f"{PLAYER}.seek({step}), {PLAYER}.read()")


def address(**values):
    return "/prefix_sharing?" + "&".join(f"{k}={v}".replace(" ", "+") for k, v in values.items())


def block(page, request, logical):
    return page.get_by_role("button", name=f"{request}, logical block {logical}:")


def sight(log, frame):
    """What must be on screen: of running requests each block, of the free queue all."""
    text = PrefixText(log)
    hashed = {
        b: text.short(*text.prefixes[p]) for b, p in enumerate(frame.prefix_id.tolist()) if p >= 0
    }
    cells = {
        name: [
            (b, int(frame.ref_cnt[b]), hashed.get(b, ""))
            for b in request.block_table[: -(-request.num_prompt_tokens // frame.block_size)]
        ]
        for name, request in frame.requests.items()
        if request.block_table
    }
    queue = frame.free_queue.tolist()
    return {
        "cells": cells,
        "queue": queue,
        "hashes": [hashed.get(b, "") for b in queue],
        "shared": int((frame.ref_cnt > 1).sum()),
        "cached": len([b for b in queue if b in hashed]),
    }


def drawn(state):
    rows = {name: row for name, row in state["rows"].items() if row["status"] == "running"}
    return {
        "cells": {
            name: [(c["block"], c["ref"], c["hash"]) for c in row["cells"]]
            for name, row in rows.items()
        },
        "queue": state["queue"],
        "hashes": state["queueHashes"],
        "shared": state["legend"]["shared"],
        "cached": state["legend"]["cached, free"],
    }


@pytest.mark.parametrize("example", PROMPT_EXAMPLES, ids=lambda example: example.slug)
def test_every_step_is_drawn_as_the_log_says(visit, example):
    page = ready(visit(address(example=example.title, step=0)))
    log = simulate(example.scenario)
    order = [*range(log.num_steps), *range(log.num_steps - 1, -1, -1), log.num_steps // 2]

    for step in order:
        assert drawn(at_step(page, step)) == sight(log, log.frame(step)), step


def test_preempted_requests_are_drawn_as_the_log_says(visit):
    prompts = [replace(prompt, outputs=20) for prompt in ONE_WORD.prompts]
    log = simulate(scenario_of(ONE_WORD.title, prompts, 4, 12))
    answers = {f"one-word.{id}.answer": 20 for id in "ABCD"}
    page = ready(visit(address(**{"one-word.blocks": 12}, **answers)))
    preempted = set()

    for step in range(log.num_steps):
        state = at_step(page, step)
        assert drawn(state) == sight(log, log.frame(step)), step
        preempted |= {n for n, row in state["rows"].items() if row["status"] == "preempted"}
    assert preempted


def test_it_opens_on_the_question_and_its_answer(visit):
    page = ready(visit("/prefix_sharing"))
    log = simulate(ONE_WORD.scenario)
    text, lookup = PrefixText(log), lookups(log)[1]
    state = read(page)

    assert state["step"] == 4
    assert state["why"] == plain(why(lookup.verdicts[2], lookup, text))
    assert state["sentence"].startswith("D has A’s words but another salt.")
    assert [cell["label"] for cell in state["rows"]["C"]["cells"]] == [
        *("hit", "hit", "hit", "held back")
    ]
    assert state["rails"] == [[1, False], [2, False], [1, False], [2, False], [3, True]]
    expect(page.locator(".prefix-cell .now")).to_have_text("German")


def test_a_click_asks_about_a_block_and_the_link_answers_again(visit):
    page = ready(visit("/prefix_sharing"))
    block(page, "C", 3).click()
    expect(page).to_have_url(re.compile("request=C&block=3"))
    told = read(page)["why"]
    assert told.startswith("Why is C’s block 3 held back?")

    page.reload()
    assert read(ready(page))["why"] == told
    block(page, "C", 3).click()
    expect(page).not_to_have_url(re.compile("request="))
    assert read(page)["why"] is None


def test_hovering_tells_and_lights_the_block_everywhere(visit):
    page = ready(visit("/prefix_sharing"))
    block(page, "B", 0).hover()
    assert read(page)["hint"].startswith("Why did B’s block 0 hit? Block 1 held its 4 tokens")
    expect(page.locator(".lit")).to_have_count(3)
    page.locator(".prefix-tile").first.hover()
    assert read(page)["hint"].startswith("Block 15 is free and has no hash. It is taken next.")
    page.locator("h1").hover()
    assert read(page)["hint"] is None


def test_keys_reach_a_block(visit):
    page = ready(visit("/prefix_sharing"))
    page.locator(".player").focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("step=5"))
    block(page, "D", 0).focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("request=D&block=0"))
    assert read(page)["why"].startswith("Why did D’s block 0 miss?")
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile("step=4"))


def test_what_a_request_gave_back_is_followed(visit):
    page = ready(visit(address(example=EVICTION.title)))

    def states(step):
        return [cell["state"] for cell in at_step(page, step)["rows"]["A"]["cells"]]

    assert states(1) == ["held"] * 4
    assert states(2) == ["cached"] * 4
    assert states(3) == ["cached", "cached", "cached", "gone"]
    assert states(4) == ["cached", "cached", "gone", "gone"]
    assert states(7) == ["lent"] * 4  # C computed the lost two again, into the same blocks
    assert [c["label"] for c in at_step(page, 4)["rows"]["A"]["cells"]] == [
        *("new", "new", "evicted", "evicted")
    ]
    crossed = [c["block"] for c in at_step(page, 7)["rows"]["C"]["cells"] if c["evicted"]]
    assert crossed == [4]
    assert read(page)["legend"]["evicted"] == 1


def test_the_version_dial_reorders_the_queue_and_is_in_the_link(visit):
    page = ready(visit(address(example=DOCUMENTED.title, step=5)))
    logs = both(DOCUMENTED.scenario)
    assert read(page)["queue"] == logs["before 0.26"].frame(5).free_queue.tolist()
    expect(page.locator(".prefix-queue")).to_contain_text("given back at the tail, as before 0.26")

    page.locator(".stSidebar").get_by_role("radio", name="0.26.0", exact=True).click()
    expect(page.locator(".prefix-queue")).to_contain_text("else at the head")
    expect(page).to_have_url(re.compile("documented.version=0.26.0"))
    assert read(page)["queue"] == logs["0.26.0"].frame(5).free_queue.tolist()

    page.reload()
    assert read(ready(page))["queue"] == logs["0.26.0"].frame(5).free_queue.tolist()


def test_both_free_orders_stand_side_by_side_at_each_time(visit):
    page = ready(visit(address(example=DOCUMENTED.title, step=5)))
    cells = page.locator(".free-orders .now td")
    expect(cells).to_have_count(2)
    for cell, log in zip(cells.all(), both(DOCUMENTED.scenario).values(), strict=True):
        blocks = [int(block) for block in cell.locator(".chip").all_inner_texts()]
        assert blocks == log.frame(5).free_queue.tolist()
    left, right = (cell.bounding_box() for cell in cells.all())
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]


@pytest.mark.parametrize("version", OLD_AND_NEW)
def test_only_what_has_a_hash_is_said_to_be_still_cached(visit, version):
    """B gives back 2 blocks of A's words, one of its own, and one that never was full."""
    link = {"example": DOCUMENTED.title, "documented.version": version, "step": 5}
    page = ready(visit(address(**link)))
    assert "gave back 4 blocks, three still cached." in read(page)["sentence"]
    assert "gave back 5 blocks, two still cached, two still held" in at_step(page, 4)["sentence"]


def test_the_step_that_is_stopped_at_is_marked_among_the_times(visit):
    page = ready(visit(address(example=DOCUMENTED.title)))
    expect(page.locator(".free-orders .now th")).to_contain_text("Time 7")
    page.get_by_role("button", name="Back").click()
    expect(page.locator(".free-orders .now th")).to_contain_text("Time 6")


def test_a_time_takes_the_player_there(visit):
    """By a click, and by the keyboard, which stays where it is."""
    page = ready(visit(address(example=DOCUMENTED.title)))
    times = page.locator(".step-links:not(.told) button")
    current = page.locator(".step-links:not(.told) [aria-current=step]")
    expect(current).to_have_text("Time 7")
    times.filter(has_text="Time 3").click()
    assert read(page)["step"] == 2
    expect(page.locator(".free-orders .now th")).to_contain_text("Time 3")
    expect(page).to_have_url(re.compile("step=2"))

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(current).to_have_text("Time 4")
    expect(page.locator(".free-orders .now th")).to_contain_text("Time 4")
    expect(times.filter(has_text="Time 4")).to_be_focused()
    assert read(page)["step"] == 3


@pytest.mark.parametrize("slug", ["documented", "eviction", "partial"])
def test_every_evicted_block_says_why_where_it_stood(visit, slug):
    """In the sentence of the step, and at the block of who had it last."""
    example = BY_SLUG[slug]
    page = ready(visit(address(example=example.title, step=0)))
    log = simulate(example.scenario)
    text = PrefixText(log)
    for lost in evictions(log):
        state = at_step(page, lost.step)
        assert cost([lost]) in state["sentence"]
        last = given_back(block_life(log, lost.block), lost.row)
        name = log.scenario.requests[last.request].id
        row = state["rows"][name]
        if last.logical < len(row["cells"]) and row["status"] == "finished":
            assert row["cells"][last.logical]["label"] == "evicted"
            block(page, name, last.logical).focus()
            page.keyboard.press("Enter")
            assert read(page)["why"] == plain(why_evicted(log, lost, words_lost(text, lost)))


def test_a_picked_block_has_a_life_and_its_steps_are_links(visit):
    page = ready(visit(address(example=EVICTION.title, step=2)))
    page.locator(".prefix-tile[data-block='4']").click()
    expect(page).to_have_url(re.compile("block=4"))
    life = page.locator(".step-links.told")
    expect(life.locator("[aria-current=step]")).to_have_text("step 2")
    expect(page.get_by_text("Why was block 4 evicted?")).to_have_count(0)
    life.get_by_role("button", name="step 3").click()
    expect(page.get_by_text("Why was block 4 evicted?")).to_be_visible()
    expect(page).to_have_url(re.compile("step=3"))
    assert "request=" not in page.url

    page.reload()
    ready(page)
    expect(page.get_by_text("Why was block 4 evicted?")).to_be_visible()
    assert page.locator(".lit").first.get_attribute("data-block") == "4"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_marks_below_have_the_colours_of_the_player(visit, scheme):
    page = ready(visit("/prefix_sharing", color_scheme=scheme))
    mark = page.locator(".three-views .chip.held").first.evaluate(
        "node => getComputedStyle(node).backgroundColor"
    )
    theme = {"light": LIGHT, "dark": DARK}[scheme]
    assert mark == "rgb({}, {}, {})".format(*bytes.fromhex(theme.owners[0].fill[1:]))


def test_play_runs_to_the_end_and_commits(visit):
    page = ready(visit("/prefix_sharing?step=9"))
    page.get_by_label("Speed").select_option("4")
    page.get_by_role("button", name="Play").click()
    expect(page).to_have_url(re.compile("step=12"))
    assert read(page)["loads"] == 1
    assert len(read(page)["queue"]) == 23


def test_other_words_are_simulated_and_the_step_stays(visit):
    page = ready(visit("/prefix_sharing?step=3"))
    area = page.get_by_role("textbox", name="Prompt B")
    area.fill("You are a helpful assistant")
    area.press("Control+Enter")
    expect(page.locator(".prefix-row").nth(1).locator(".prefix-end b").first).to_have_text(
        "4 of 5 tokens hit"
    )
    expect(page.get_by_text("5 tokens", exact=True)).to_be_visible()
    assert read(page)["step"] == 3
    there = page.url

    other = ready(visit(there.removeprefix(there.split("/prefix")[0])))
    assert read(other)["rows"] == read(page)["rows"]


def test_an_empty_prompt_is_refused_below_it(visit):
    page = ready(visit("/prefix_sharing"))
    area = page.get_by_role("textbox", name="Prompt A")
    area.fill("")
    area.press("Control+Enter")
    expect(page.get_by_text("A has 0 words; 1 to 128 would do.")).to_be_visible()
    assert len(read(page)["rows"]["A"]["cells"]) == 4


def test_a_deep_link_is_the_first_request_of_a_new_server(fresh_server, visit):
    link = address(example=ONE_STEP.title, step=1, request="C", block=0)
    page = ready(visit(link, at=fresh_server))
    state = read(page)

    assert state["step"] == 1
    assert state["why"].startswith("Why did C’s block 0 hit?")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_coming_back_finds_the_step(visit):
    page = ready(visit("/prefix_sharing?step=9"))
    page.get_by_role("link", name="Allocation", exact=True).click()
    expect(page.locator("h1")).to_have_text("Allocation")
    page.get_by_role("link", name="Prefix sharing", exact=True).first.click()
    assert read(ready(page))["step"] == 9


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_the_question_and_nothing_sticks_out(visit, scheme):
    page = ready(visit("/prefix_sharing", size=(390, 844), color_scheme=scheme))
    answer = page.locator(".prefix-why.pinned").bounding_box()
    asked = page.locator(".prefix-cell.chosen").bounding_box()

    for box in (answer, asked):
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    assert read(page)["theme"] == scheme
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_what_is_told_of_the_last_row_leaves_the_queues_heading_in_sight(visit):
    page = ready(visit(address(example=DOCUMENTED.title), size=(390, 844)))
    page.locator(".player").focus()
    block(page, "C", 0).focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    hint = page.locator(".prefix-why.floating")
    expect(hint).to_be_visible()
    told, heading = (node.bounding_box() for node in (hint, page.locator(".prefix-queue .title")))
    assert told["y"] + told["height"] <= heading["y"]


def test_a_shared_block_has_a_second_border(visit):
    page = ready(visit("/prefix_sharing"))
    shadow = "node => getComputedStyle(node).boxShadow"

    assert block(page, "A", 0).evaluate(shadow).count("inset") == 2
    assert block(page, "A", 3).evaluate(shadow) == "none"


def test_no_text_is_smaller_than_eleven_and_a_half(visit):
    page = ready(visit("/prefix_sharing?step=12"))
    sizes = page.locator(".prefix").evaluate(
        """root => [...root.querySelectorAll("*")]
        .filter((node) => node.childNodes.length && node.textContent.trim())
        .map((node) => parseFloat(getComputedStyle(node).fontSize))"""
    )
    assert min(sizes) >= 11.5
