"""The benchmark's command: what it asks for, says, shows, writes and exits with."""

import sys

import pytest

from kernels import bench, contest
from kernels.contenders import Contender
from kernels.job import Device
from kernels.recorded import Recording

INTERPRETER = Device("interpreter", "Triton interpreter on CPU", "2.13.0", "3.7.1")


def test_without_a_gpu_it_says_so_and_what_can_be_done(monkeypatch, capsys):
    monkeypatch.setattr(bench, "find_device", lambda: INTERPRETER)

    assert bench.main([]) == 2
    out, said = capsys.readouterr()
    assert not out
    assert "No GPU here" in said
    assert "--parity" in said
    monkeypatch.setattr(bench, "find_device", lambda: Device("torch", "torch on CPU", "2.13.0"))
    assert bench.main(["--parity"]) == 2
    assert "No Triton" in capsys.readouterr().err


def test_parity_compares_times_nothing_and_writes_a_recording(device, capsys, tmp_path):
    step, file = tmp_path / "17.json", tmp_path / "r.json"
    step.write_text('{"block_tables": [[3, 1], [3, 2]], "seq_lens": [6, 8], "block_size": 4}')
    asked = ["--parity", "--preset", "lesson", "--step", str(step), "--json", str(file)]

    assert bench.main(asked) == 0

    recording = Recording.from_json(file.read_text())
    names = [point.name for point in recording.points]
    assert names == ["lesson", "Qwen2.5-7B, simulated step 17"]
    assert recording.passed
    assert recording.device == device
    assert {row.median_us for point in recording.points for row in point.rows} == {None}
    cut = device.kind == "interpreter"
    assert recording.points[1].dtype == ("float16" if cut else "bfloat16")
    assert recording.points[1].num_kv_heads == (1 if cut else 4)
    assert capsys.readouterr().out.count("  ok") == 4 + 3


def test_a_terminal_shows_a_bar_with_what_is_going_on(monkeypatch, capsys):
    monkeypatch.setattr(bench, "BAR", 4)
    bench.progress(1, 4, "lesson", "ours")
    assert not capsys.readouterr().err  # no terminal

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bench.progress(1, 4, "lesson", "ours")
    bench.progress(1, 4)
    assert capsys.readouterr().err == "\r\033[K[#...] 1 of 4 · lesson · ours\r\033[K"


def test_a_wrong_result_is_the_exit_code(monkeypatch, device):
    wrong = {"ours": lambda pools: Contender(id, lambda: 1.0, 0.1)}
    monkeypatch.setattr(contest, "DECODE", wrong)

    assert bench.main(["--parity", "--preset", "lesson"]) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--preset", "nonsense"], "invalid choice: 'nonsense'"),
        (["--block-sizes", "16,0"], "'16,0' is no list of block sizes: 1 to 2,048"),
        (["--block-sizes", "x"], "'x' is no list of block sizes"),
        (["--step", "nowhere.json"], "nowhere.json holds no step: [Errno 2]"),
        (["--step", "{tmp}/no_tables"], "has no 'block_tables'"),
        (["--step", "{tmp}/short"], "holds no step: Sequence 0 has 99 tokens"),
        (["--json", "nowhere/x.json"], "nowhere/x.json cannot be written"),
    ],
)
def test_a_wrong_argument_is_answered_in_a_sentence(arguments, sentence, tmp_path, capsys):
    (tmp_path / "no_tables").write_text("{}")
    (tmp_path / "short").write_text('{"block_tables": [[1]], "seq_lens": [99], "block_size": 4}')

    with pytest.raises(SystemExit) as exit_info:
        bench.options([argument.format(tmp=tmp_path) for argument in arguments])

    assert exit_info.value.code == 2
    assert sentence in capsys.readouterr().err
