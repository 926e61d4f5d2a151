"""The figure of the Pressure page: bands that add up, lanes where they belong, words that count."""

import re
from dataclasses import asdict

import numpy as np
import pytest

from pages.figures.palette import DARK, LIGHT
from pages.figures.pool_picture import block_colours, pool_picture
from pages.figures.pressure import drawn_as
from pages.figures.pressure_bands import bands, mean, steps_a_point
from pages.figures.pressure_hues import _Hues, hues_at
from pages.figures.pressure_lanes import SHADES, lane_image, lane_lines, lane_places
from pages.figures.pressure_words import in_order, lead, ordinal
from pages.ui.moment import Moment
from pages.ui.pressure_examples import PRESSURE_EXAMPLES
from pages.ui.pressure_run import PressureRun
from pages.ui.pressure_tables import hits_of, steps_of
from sim.giving_way import giving_way
from sim.load import requests_of
from sim.scenario import Scenario
from sim.simulate import simulate


@pytest.fixture(scope="module")
def runs():
    return {example.slug: run_of(example) for example in PRESSURE_EXAMPLES}


def run_of(example):
    requests = requests_of(example.load, example.engine["max_model_len"])
    return PressureRun(simulate(Scenario(requests=requests, name=example.title, **example.engine)))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_bands_add_up_to_the_pool(runs, theme):
    run = runs["shared"]
    total = sum(band.y for band in bands(run.columns, 16, theme))

    assert np.allclose(total, 59, atol=1e-3)


def test_a_mean_of_steps_keeps_the_sum():
    assert mean(np.array([1, 3, 5]), 2).tolist() == [2.0, 5.0]
    assert steps_a_point(2_000) == 1
    assert steps_a_point(2_001) == 2


def test_a_lane_is_drawn_for_every_interval(runs):
    run = runs["outputs"]
    ids = [spec.id for spec in run.log.scenario.requests]
    lines = lane_lines(run.lanes, ids, hues_at(run.stays, 41), LIGHT)
    drawn = sum(len(line.x) // 3 for line in lines if line.mode == "lines")

    assert drawn == len(run.lanes.start)
    assert len(lines[-1].x) == len(run.preemptions)


def test_lanes_stand_below_each_other_in_order_of_admission(runs):
    run = runs["outputs"]
    place, (low, high) = lane_places(run.lanes.order, hues_at(run.stays, 41))

    assert (np.diff(place[run.lanes.order]) > 0).all()
    assert high >= 12 > low


def test_the_image_shows_each_lane_at_each_step(runs):
    """40 lanes, not admitted in the order in which they came; 614 steps, one a pixel."""
    lanes = runs["urgent"].lanes
    image = lane_image(lanes, runs["urgent"].log.num_steps, LIGHT).z
    row = {request: at for at, request in enumerate(lanes.order.tolist())}

    assert image.shape == (40, 614)
    for request, doing, i, j in zip(
        lanes.request, lanes.doing, lanes.start, lanes.stop, strict=True
    ):
        assert (image[row[request], i:j] == 1 + SHADES.index(doing)).all()
    assert (image > 0).sum() == (lanes.stop - lanes.start).sum()


def test_only_who_runs_has_a_hue_and_the_first_admitted_have(runs):
    run = runs["outputs"]
    for step in range(0, run.log.num_steps, 11):
        frame = run.log.frame(step)
        names = [run.log.scenario.requests[r].id for r in hues_at(run.stays, step)]
        assert set(names) <= set(frame.running)
        assert len(names) == min(7, len(frame.running))
    assert sorted(hues_at(run.stays, 0).values()) == list(range(len(run.log.frame(0).running)))


def test_the_lowest_free_hue_is_given_first():
    """Eight run from step 0; r5 and then r2 leave before step 1, when r8 comes."""
    given = _Hues()
    for request in range(8):
        given.move(request)
    given.give()
    for request in (5, 2, 8):
        given.move(request)
    given.give()

    assert given.hues == {0: 0, 1: 1, 3: 3, 4: 4, 6: 6, 7: 2, 8: 5}


def test_what_is_drawn_together_is_said(runs):
    assert drawn_as(runs["outputs"].log) == ""
    assert "1 request and 2 steps" in drawn_as(runs["steady"].log)


def test_the_figure_stands_still_and_alone_it_has_its_playhead_after_the_step(runs):
    run = runs["outputs"]
    moment = Moment(run, 41, LIGHT)

    assert not moment.figure().layout.shapes
    assert [shape.x0 for shape in moment.figure_alone().layout.shapes] == [42, 42]
    assert moment.figure().layout.xaxis.range == (0, run.log.num_steps)
    assert Moment(runs["steady"], 1, LIGHT).figure() is Moment(runs["steady"], 90, LIGHT).figure()


def test_the_words_of_a_preemption_count_its_blocks(runs):
    """The frames around step 41: r13 had 49 tokens in 4 blocks, and came back in step 43."""
    run = runs["outputs"]
    now = Moment(run, 41, LIGHT)
    (found,) = now.preempted
    before, back = run.log.frame(40).requests, run.log.frame(43)

    assert (found.victim, found.computed, found.blocks) == ("r13", 49, 4)
    assert before["r13"].num_computed_tokens == 49
    assert before["r13"].block_table == (34, 43, 3, 2)
    assert before["r6"].num_computed_tokens == 80
    assert 2 in run.log.frame(41).requests["r6"].block_table
    assert ("r13", 18, 32) in back.scheduled
    assert plain(lead(found, run.log.scenario, now.chip)) == (
        "Pool full. r6 lacks 1 block, so r13 loses its place: 49 computed tokens dropped, "
        "32 of them still cached when it comes back."
    )
    way = giving_way(run.log, found)
    assert [plain(line) for line in in_order(found, way, run.log.scenario, now.chip)] == [
        "r6 needs 1 block for its 81st token. The free queue is empty.",
        "r13 is the last one in the running list: preempted. Block 2 to the head of the free "
        "queue: no hash. Blocks 3, 43, 34 to its tail: cached until somebody takes them.",
        "r6 takes block 2.",
        "r13 is back in step 43: 32 found in the cache, 17 tokens computed again.",
    ]


def test_a_chip_has_the_hue_of_who_runs(runs):
    chip = Moment(runs["outputs"], 41, LIGHT).chip

    assert LIGHT.owners[chip.hues["r6"]].edge in chip("r6")
    assert LIGHT.rest.edge in chip("r13")  # it runs no more


def plain(html):
    return re.sub("<[^>]*>", "", html)


@pytest.mark.parametrize(
    ("number", "words"), [(1, "1st"), (12, "12th"), (22, "22nd"), (1_113, "1,113th"), (3, "3rd")]
)
def test_ordinals(number, words):
    assert ordinal(number) == words


def test_the_picture_of_the_pool_has_the_states_of_the_frame(runs):
    run = runs["shared"]
    frame = run.log.frame(34)
    now = Moment(run, 34, LIGHT)
    colours = block_colours(frame, now.chip.hues, LIGHT)
    count = {
        name: int((colours == tuple(bytes.fromhex(fill[1:]))).all(1).sum())
        for name, fill in asdict(LIGHT.mosaic).items()
    }

    assert count["shared"] == run.columns.shared[34] > 0
    assert count["cached"] == run.columns.cached_free[34]
    assert count["free"] == run.columns.free[34] + 1  # the null block
    assert pool_picture(frame, now.chip.hues, LIGHT).shape == (16, 1_024, 3)


def test_hit_rates_are_apart(runs):
    run = runs["shared"]
    table = hits_of(run, run.log.num_steps - 1).set_index("requests")

    assert table.loc["resumed", "found"] == sum(p.hits for p in run.preemptions)
    new = [spec.prompt.num_tokens for spec in run.log.scenario.requests]
    assert table.loc["new", "tokens looked up"] == sum(new)


def test_the_csv_has_a_row_a_step(runs):
    table = steps_of(runs["outputs"])

    assert table["step"].tolist() == list(range(runs["outputs"].log.num_steps))
    assert (table["used"] + table["cached_free"] + table["free"] == 59).all()


def test_the_examples_show_what_they_say(runs):
    shared, urgent, steady = runs["shared"], runs["urgent"], runs["steady"]
    assert min(p.hits for p in shared.preemptions) >= 128
    priority = {spec.id: spec.priority for spec in urgent.log.scenario.requests}
    for found in urgent.preemptions:
        running = urgent.log.frame(found.step).running
        assert all(priority[name] <= priority[found.victim] for name in running)
    last = steady.log.scenario.requests[-1].arrival_step
    assert steady.columns.waiting.argmax() > last - 50
    assert steady.columns.waiting.max() > 100
