"""Run the kernel: what it offers, refuses and cuts, what a link restores, and a run to the end."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from kernels.job import Device, Result, Timing
from kernels.presets import lesson
from kernels.recorded import OURS, Point, Row, latest
from pages.figures.kernel_times import EMPTY, times
from pages.figures.palette import LIGHT
from pages.figures.run_kernel import MAX_POINTS, num_drawn, parity
from pages.figures.run_steps import steps
from pages.figures.words import scientific, size
from pages.ui.examples import EXAMPLES
from pages.ui.link import encode_scenario

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "pages" / "run_kernel.py"
MODEL, STEP = "A model’s decode step", "The step on screen"
CPU = Device("interpreter", "Triton interpreter on CPU", "2.13.0", "3.7.1")
TINY = EXAMPLES[0].scenario


def opened(on_screen=None, **address):
    app = AppTest.from_file(PAGE, default_timeout=60)
    app.query_params.update(address)
    if on_screen:
        app.session_state["on_screen"] = on_screen
    return app.run()


def text(app):
    return "\n".join(element.value for element in (*app.markdown, *app.caption))


def button(app, label):
    return next((button for button in app.button if button.label == label), None)


def step_line(app):
    lines = [html.proto.body for html in app.get("html")]
    return next(line for line in lines if "run-steps" in line)


def finish(app):
    deadline = time.monotonic() + 60
    while button(app, "Cancel") and time.monotonic() < deadline:
        time.sleep(0.1)
        app.run()
    return app


def test_the_lesson_runs_to_a_result_that_can_be_taken_away():
    app = opened()
    assert "1 sequence of 6 tokens" in text(app)
    assert "tolerance **9.54e−7**" in text(app)
    assert not app.get("plotly_chart")

    app = finish(button(app, "Run").click().run())

    assert not app.exception
    assert len(app.get("plotly_chart")) == 1
    assert "one output **4**" in text(app)
    assert "outside tolerance **0**" in text(app)
    outputs, sequences = (frame.value for frame in app.dataframe)
    assert outputs["float64"].round(6).tolist() == [0.363083, 0.449897, 0.392487, 0.386499]
    assert np.abs(outputs["kernel"] - outputs["float64"]).tolist() == outputs["error"].tolist()
    assert 0 < outputs["error"].max() < 9.54e-7
    assert sequences["tokens"].tolist() == [6]
    assert [b.label for b in app.get("download_button")] == ["Outputs, CSV", "Job, JSON"]


def test_a_link_restores_the_configuration():
    app = opened(
        source=MODEL,
        preset="Llama-3.1-8B",
        dtype="float16",
        batch="2",
        context="100",
        block_size="3",
        table_order="contiguous",
        seed="7",
    )

    assert not app.exception
    assert "2 sequences of 100 tokens, 32 / 8 heads of 128, block 3, float16" in text(app)
    assert app.table[0].value["block table"].tolist() == [
        "1, 2, 3, 4, 5, 6, 7, 8, … 34 blocks",
        "35, 36, 37, 38, 39, 40, 41, 42, … 34 blocks",
    ]


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ({"batch": "0"}, "Sequences is 0; 1 to 64 sequences would do here."),
        (
            {"context": "99999999"},
            "Tokens in each is 99,999,999; 1 to 32,768 tokens would do here.",
        ),
        ({"seed": "-1"}, "Seed of q, K and V is -1; 0 to 999,999 as a seed would do here."),
    ],
)
def test_a_link_with_a_wrong_number_is_answered_and_falls_back(address, sentence):
    app = opened(source=MODEL, **address)

    assert not app.exception
    assert sentence in text(app)
    assert "8 sequences of 4,096 tokens" in text(app)


def test_a_case_too_large_for_the_interpreter_is_cut_and_says_how():
    app = opened(source=MODEL)

    assert "2,048 tiles of 64 tokens would take the interpreter about 31 s" in text(app)
    assert "takes 1 of 4 KV heads (7 of 28 heads)" in text(app)
    assert button(app, "Run the cut")


def test_bfloat16_is_refused_beside_its_control():
    app = opened(dtype="bfloat16")

    assert "bfloat16 wrongly" in text(app)
    assert button(app, "Run").disabled
    assert "Shape refused" in step_line(app)


def test_the_step_on_screen_is_what_runs_and_the_address_holds_it():
    app = opened({"page": "Allocation", "scenario": TINY, "step": 3})

    assert app.sidebar.selectbox[0].value == STEP
    assert "Allocation, step 3: 1 sequence of 6 tokens" in text(app)
    assert app.table[0].value["block table"].tolist() == ["3, 1"]
    assert app.query_params["step"] == "3"

    again = opened(scenario=app.query_params["scenario"], step="3")
    assert not again.exception
    assert again.sidebar.selectbox[0].value == STEP
    assert again.table[0].value["block table"].tolist() == ["3, 1"]


def test_a_link_names_the_recorded_step_whose_times_are_shown():
    recording = latest()
    chosen = recording.points[-1]

    app = opened(recorded=chosen.name)

    assert app.main.selectbox[0].value == chosen.name
    assert f"Recorded on {recording.device} · {recording.date}" in text(app)
    assert "read and written" in text(app)  # the last is a write


def test_without_a_step_on_screen_the_page_says_where_to_find_one():
    assert "No simulated step is on screen yet" in text(opened(source=STEP))


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ({"scenario": "nonsense", "step": "1"}, "cannot be read"),
        ({"scenario": encode_scenario(TINY), "step": "x"}, "the step in this link is 'x'"),
        ({"scenario": encode_scenario(TINY), "step": "99999"}, "Nothing runs at step"),
    ],
)
def test_a_broken_link_is_answered_in_one_sentence(address, words):
    app = opened(source=STEP, **address)

    assert not app.exception
    assert words in text(app).replace("\\", "")
    assert button(app, "Run").disabled


def test_a_second_visitor_sees_the_queue_and_a_returning_one_the_run():
    first = opened(source=MODEL)
    button(first, "Run the cut").click().run()
    second = opened()
    button(second, "Run").click().run()
    assert "Queued: 1 run ahead" in step_line(second)

    back = AppTest.from_file(PAGE, default_timeout=60)
    back.session_state["kernel_run"] = first.session_state["kernel_run"]
    button(back.run(), "Cancel").click().run()
    assert "Cancelled" in text(back)

    finish(second)
    assert "one output **4**" in text(second)


SERVER = """
import sys, time
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("pages/run_kernel.py", default_timeout=60).run()
app.button[0].click().run()
while app.button[0].label == "Cancel":
    time.sleep(0.1)
    app.run()
assert app.get("plotly_chart"), app.markdown
print(sorted({"torch", "triton"} & set(sys.modules)))
"""


def test_the_server_never_imports_torch():
    command = [sys.executable, "-c", SERVER.replace('"pages/', f'"{ROOT}/pages/')]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def result_with(error, num_seqs=1):
    job = lesson()
    reference = np.zeros((num_seqs, 1, len(error) // num_seqs))
    return Result(job, CPU, np.array(error).reshape(reference.shape), reference, 0.1, None)


def test_every_output_is_drawn_by_what_became_of_it():
    figure = parity(result_with([1e-8, 0.0, np.nan, 2e-7, 1e-3]), LIGHT)

    drawn = {trace.name: list(trace.x) for trace in figure.data if trace.name}
    assert drawn["within"] == [0, 3]
    assert drawn["exact"] == [1]
    assert drawn["outside"] == [2, 4]
    assert drawn["worst"] == [2]


def test_of_many_outputs_some_are_drawn_and_always_the_worst():
    errors = np.full(20_000, 1e-9)
    errors[12_345] = 5e-7
    result = result_with(errors)

    figure = parity(result, LIGHT)

    within = next(trace for trace in figure.data if trace.name == "within")
    assert 12_345 in within.x
    assert len(within.x) == num_drawn(result) <= MAX_POINTS + 1


def test_the_steps_of_a_run():
    queued = steps("queued", 2, "in the interpreter", has_gpu=False)
    assert [step.mark for step in queued] == ["done", "now", "later", "later"]
    assert queued[1].words == "Queued: 2 runs ahead"
    assert queued[3].words == "Timing: no GPU on this host"

    timing = steps("timing", 0, "on the GPU", has_gpu=True)
    assert [step.mark for step in timing] == ["done", "done", "done", "now"]
    done = steps("done", 0, "on the GPU", has_gpu=True)
    assert [step.mark for step in done] == ["done"] * 4


def test_times_are_rows_and_none_is_made_up():
    zeros = np.zeros((1, 1, 4))
    timing = Timing((31.25,) * 3, 9, 1, 1, 1)
    timed = Point.of(Result(lesson(), CPU, zeros, zeros, 0.1, timing))
    untimed = Point.of(result_with([0.0] * 4))

    assert times(None) == times(untimed) == EMPTY
    assert "31.2" in times(timed)
    assert "&lt;b&gt;" in times(replace(timed, rows=(replace(timed.rows[0], kernel="<b>"),)))


def test_a_recorded_row_says_its_share_of_the_limit_in_the_same_run():
    rows = (
        Row("read limit", True, median_us=30.0, spread=0.001),
        Row(OURS, True, 1e-3, 1e-2, 37.5, 0.002),
        Row("XQA", None, note="no module"),
    )
    point = replace(Point.of(result_with([0.0] * 4)), num_bytes=75_000_000, rows=rows)

    drawn = times(point)

    assert "80% of the limit, spread 0.2%" in drawn
    assert drawn.count("of the limit") == 1
    assert "<span>37.5</span><span>2.00</span>" in drawn
    assert "XQA" not in drawn


@pytest.mark.parametrize(
    ("value", "words"), [(1.264e-7, "1.26e−7"), (0, "0"), (float("inf"), "∞"), (12.0, "1.20e1")]
)
def test_numbers_as_words(value, words):
    assert scientific(value) == words


def test_sizes_as_words():
    assert [size(n) for n in (384, 86_016, 134_217_728)] == ["384 B", "86.0 kB", "134.2 MB"]
