"""The charts of the Allocation page: stacks that add up, one axis, ink where now is, no hues."""

from dataclasses import replace

import numpy as np
import pytest

from pages.figures.allocation_sizes import size_figures
from pages.figures.allocation_waste import MAX_POINTS, scale_told, waste_figure
from pages.figures.allocation_words import (
    left_out_told,
    shares_told,
    sizes_told,
    unfinished_told,
)
from pages.figures.palette import DARK, LIGHT
from pages.ui.allocation_sizes import table_of as table_of_sizes
from pages.ui.allocation_waste import table_of, ways_of
from pages.ui.examples import EXAMPLES
from pages.ui.runs import SimulatedRun
from sim.block_sizes import BlockSizeRun, sweep, usable_slots
from sim.simulate import simulate
from sim.waste import contiguous_waste, paged_waste
from sim.waste_history import WasteHistory

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
SMALL = EXAMPLES[3].scenario


@pytest.fixture(scope="module")
def run():
    return SimulatedRun(simulate(SMALL))


@pytest.fixture(scope="module")
def runs():
    return sweep(SMALL)


def history(*columns):
    return WasteHistory(*map(np.array, columns))


# --- waste over the run ---------------------------------------------------------------------------


def test_all_ways_are_what_their_tables_say_at_each_step(run):
    paged, oracle, pow2, most = ways_of(run).items()

    assert [name for name, _ in (paged, oracle, pow2, most)] == [
        "Paged",
        "Orca (Oracle)",
        "Orca (Pow2)",
        "Orca (Max)",
    ]
    for step in range(run.log.num_steps):
        frame = run.log.frame(step)
        assert paged[1].internal[step] == paged_waste(SMALL, frame).internal
        for name, way in (oracle, pow2, most):
            (baseline,) = [b for how, b in run.baselines.items() if how.label == name]
            waste = contiguous_waste(baseline, frame.engine_step)
            assert (way.used[step], way.external[step]) == (waste.used, waste.external)


@THEMES
def test_a_row_is_stacked_to_all_that_is_taken(run, theme):
    ways = ways_of(run)
    figure = waste_figure(ways, usable_slots(SMALL), 25, theme)
    for row, way in enumerate(ways.values()):
        stack = [trace.y for trace in figure.data if trace.stackgroup == f"row {row}"]
        assert np.allclose(np.sum(stack, axis=0)[:-1], way.held + way.external)


def test_all_rows_have_one_axis_the_memory_and_the_playhead(run):
    figure = waste_figure(ways_of(run), 76, 25, LIGHT)
    axes = [figure.layout[f"yaxis{row}"] for row in ("", "2", "3", "4")]
    lines = [shape for shape in figure.layout.shapes if shape.type == "line"]
    memory = [trace for trace in figure.data if trace.name == "all 76 slots"]

    assert {axis.range for axis in axes} == {(0, 1.06 * 76)}
    assert [trace.y for trace in memory] == [(76, 76)] * 4
    assert [line.x0 for line in lines] == [26] * 4
    assert {line.line.color for line in lines} == {LIGHT.ink}
    assert [line.yref for line in lines] == [f"y{row} domain" for row in ("", "2", "3", "4")]


def test_memory_far_above_all_that_is_taken_is_told_not_drawn():
    """30 slots at most: 90 can be drawn beside them, 91 cannot."""
    ways = {"Paged": history([1, 1], [20, 10], [5, 0], [0, 5], [5, 0])}
    figure = waste_figure(ways, 91, 0, LIGHT)

    assert "all 90 slots" in [trace.name for trace in waste_figure(ways, 90, 0, LIGHT).data]
    assert scale_told(ways, 90) == ""
    assert "all 91 slots" not in [trace.name for trace in figure.data]
    assert figure.layout.yaxis.range == (0, 1.06 * 30)
    assert scale_told(ways, 91) == "All 91 slots there are would be far above the axes."


def test_many_steps_are_drawn_as_means():
    steps = np.arange(MAX_POINTS + 1)
    ways = {"Paged": history(*([steps] * 5))}
    used = waste_figure(ways, 10_000, 0, LIGHT).data[0]

    assert used.x[:3].tolist() == [0, 2, 4]
    assert used.y[:2].tolist() == [0.5, 2.5]
    assert scale_told(ways, 10_000).endswith("Each point is the mean of 2 steps.")


def test_the_words_of_the_shares_and_of_who_is_not_done(run):
    """25 of 50 held slots are empty, and 1 of 4."""
    ways = {
        "Paged": history([1, 1], [20, 5], [5, 10], [5, 5], [0, 0]),
        "Orca (Max)": history([1, 1], [3, 0], [1, 0], [0, 0], [9, 9]),
    }
    last = int(run.log.columns["engine_step"][-1])

    assert shares_told(ways) == "Paged 50.0\u00a0%, Orca (Max) 25.0\u00a0% of the slots."
    assert unfinished_told(run.baselines, last) == (
        "When the paged run ends, there are still to be done: 3 requests with Orca (Max), "
        "3 requests with Orca (Pow2), 3 requests with Orca (Oracle)."
    )


def test_who_is_done_or_stuck_is_not_said_to_be_coming():
    lesson = EXAMPLES[0].scenario
    stuck = SimulatedRun(simulate(replace(lesson, max_model_len=17)))
    last = int(stuck.log.columns["engine_step"][-1])
    told = unfinished_told(stuck.baselines, last)

    assert [run.stuck for run in stuck.baselines.values()] == ["B", None, None]
    assert "Orca (Max)" not in told


def test_the_csv_has_a_row_for_each_way_and_step(run):
    table = table_of(ways_of(run))
    frame = run.log.frame(7)
    row = table[(table["memory"] == "Paged") & (table["step"] == 7)].iloc[0]

    assert len(table) == 4 * run.log.num_steps
    assert row["slots held"] == 4 * (frame.ref_cnt > 0).sum()


# --- block sizes ----------------------------------------------------------------------------------


def test_bars_are_the_runs_and_the_size_on_screen_is_ink(runs):
    figures = size_figures(runs, 4, LIGHT)
    bars = [figure.data[0] for figure in figures.values()]
    done = [run for run in runs if not run.stalled]

    assert list(figures) == ["Tail waste", "Table length", "Prefix hits"]
    assert [bar.x for bar in bars] == [tuple(str(run.block_size) for run in done)] * 3
    assert bars[0].y == tuple(100 * run.empty_share for run in done)
    assert bars[1].y == tuple(run.longest for run in done)
    assert bars[2].y == tuple(run.hit for run in done)
    for bar in bars:
        ink = [x for x, fill in zip(bar.x, bar.marker.color, strict=True) if fill == LIGHT.ink]
        assert ink == ["4"]


def test_a_size_whose_run_never_ends_keeps_an_empty_place(runs):
    """76 slots have no block of 128; blocks of 16 miss the 12 tokens that those of 4 find."""
    figures = size_figures(runs, 4, LIGHT)
    sizes = [str(run.block_size) for run in runs]
    empty = [s.x0 + 0.4 for s in figures["Tail waste"].layout.shapes]
    missed = {sizes[round(s.x0 + 0.4)]: (s.y0, s.y1) for s in figures["Prefix hits"].layout.shapes}

    assert figures["Tail waste"].layout.xaxis.categoryarray == tuple(sizes)
    assert [sizes[round(place)] for place in empty] == ["128", "256"]
    assert missed["16"] == (0, 12)
    assert "4" not in missed
    assert left_out_told(runs, 76) == (
        "Dashed: the run never ends with 0 blocks of 128 or 0 blocks of 256, which is all that "
        "these 76 slots make."
    )


def test_what_a_size_comes_to_in_words():
    four = BlockSizeRun(4, 20, False, 41, 0.065, 11, 6.5, 50, 12)
    sixteen = BlockSizeRun(16, 5, False, 58, 0.238, 1, 2.2, 50, 0)
    sixty_four = BlockSizeRun(64, 2, True, 3, 0.0, 0, 0.0, 0, 0)

    assert sizes_told([four, sixteen, sixty_four], 4) == (
        "At **4**: 6.5\u00a0% of the held slots are empty, the longest table has 11 entries "
        "(44 B), 12 of 50 prompt tokens are found; at **16**: 23.8\u00a0% of the held slots are "
        "empty, the longest table has 1 entry (4 B), 0 of 50 prompt tokens are found; at **64** "
        "the run never ends."
    )
    assert left_out_told([four], 76) == (
        "Blocks smaller than 4 would be more than 10,000,000: that is not simulated."
    )


def test_the_csv_has_a_row_a_size_and_no_numbers_of_what_never_ends(runs):
    table = table_of_sizes(runs).set_index("block_size")

    assert "\n4,20,False,41," in table_of_sizes(runs).to_csv(index=False)
    assert table.loc[4, "longest_bytes"] == 4 * table.loc[4, "longest"]
    assert table.loc[256, "stalled"]
    assert table.loc[256, "empty_share":].isna().all()


@THEMES
def test_no_chart_has_the_hue_of_a_request(run, runs, theme):
    charts = [waste_figure(ways_of(run), 76, 25, theme), *size_figures(runs, 4, theme).values()]
    drawn = " ".join(chart.to_json() for chart in charts)

    for owner in theme.owners:
        assert owner.fill not in drawn
        assert owner.edge not in drawn
