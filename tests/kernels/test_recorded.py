"""Recordings: what follows from them, their table, their files, and which of them is shown."""

import json
from dataclasses import replace

import pytest

from kernels import bench, contest
from kernels.job import Device
from kernels.recorded import RESULTS, Point, Recording, Row, latest

GPU = Device("gpu", "NVIDIA H200", "2.11.0", "3.6.0", "13.0", "580.1")
INTERPRETER = Device("interpreter", "Triton interpreter on CPU", "2.13.0", "3.7.1")


def recorded():
    rows = (
        Row("read limit", True, median_us=30.9, spread=0.004),
        Row("ours", True, 2.7e-3, 7.8e-3, 37.5, 0.011, 21.4),
        Row("v1", False, None, 7.8e-3, note="not a number"),
    )
    point = Point(
        "Llama-3.1-8B 8×4k",
        "decode",
        *(32, 8, 128, 16, "bfloat16"),
        *(8, 4096, 32_768, 134_217_728, True),
        rows,
    )
    return Recording("2026-01-31", GPU, contest.ERROR, {"FA3": "vllm 0.26.0"}, (point,))


def test_bandwidth_and_share_of_the_limit_follow_from_the_times():
    (point,) = recorded().points
    limit, ours, wrong = point.rows

    assert point.tb_per_s(ours) == pytest.approx(134.217728 / 37.5)
    assert point.share(ours) == pytest.approx(30.9 / 37.5)
    assert point.share(limit) == 1
    assert point.share(wrong) is point.tb_per_s(wrong) is None
    assert replace(point, rows=(ours,)).share(ours) is None


def test_the_table_has_a_row_a_kernel_under_its_header():
    (point,) = recorded().points

    assert [bench.HEADER, *bench.table(point).split("\n")] == [
        "                        µs  spread   TB/s  of limit  plan µs     worst  tolerance",
        "Llama-3.1-8B 8×4k · bfloat16, blocks of 16, 134.2 MB",
        "  read limit         30.90    0.4%   4.34     1.000        –         –          –",
        "  ours               37.50    1.1%   3.58     0.824       21   2.7e-03    7.8e-03  ok",
        "  v1                     –       –      –         –        –         –    7.8e-03"
        "  FAIL  not a number",
    ]
    assert bench.table(replace(point, defeats_l2=False)).split("\n")[0].endswith("from the L2")


def test_a_recording_survives_its_file():
    recording = recorded()
    text = recording.to_json()

    assert Recording.from_json(text) == recording
    assert not recording.passed
    assert len(text.splitlines()) == 3  # what is common, a point, the end
    assert json.loads(text)["points"][0]["rows"][1]["kernel"] == "ours"


def test_only_a_peer_may_give_no_result():
    recording = recorded()
    (point,) = recording.points

    def passes(*rows):
        return replace(recording, points=(replace(point, rows=rows),)).passed

    assert passes(Row("read limit", True), Row("ours", True), Row("FA3", None))
    assert not passes(Row("ours", None))
    assert not passes(Row("ours", True), Row("FA3", False))


def test_what_is_shown_where_there_is_no_gpu_is_the_newest_that_was_recorded_on_one(
    monkeypatch, tmp_path
):
    monkeypatch.setattr("kernels.recorded.RESULTS", tmp_path)
    assert latest() is None

    for name, date, device in [("c", "01", GPU), ("a", "31", GPU), ("b", "32", INTERPRETER)]:
        recording = replace(recorded(), date=f"2026-01-{date}", device=device)
        (tmp_path / f"{name}.json").write_text(recording.to_json())

    assert latest() == replace(recorded(), date="2026-01-31")


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_every_result_kept_is_right_timed_and_of_a_gpu(path):
    recording = Recording.from_json(path.read_text())

    assert recording.passed
    assert recording.device.kind == "gpu"
    for point in recording.points:
        assert point.row("ours" if point.kind == "decode" else "flash").median_us > 0
