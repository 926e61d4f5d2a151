"""Whole runs on the device at hand: the writer, the gather and the arithmetic at once."""

import pytest

from kernels import bounds
from kernels.job import JobError
from kernels.parity import run
from kernels.presets import MODELS, decode_step, lesson
from kernels.record import cases
from kernels.recorded import Recording, Row


def test_the_lesson_s_example(device, dtype):
    result = run(lesson(dtype), device)

    assert result.passed
    assert result.reference.flatten() == pytest.approx(
        [0.363083, 0.449897, 0.392487, 0.386499], abs=2 * result.tolerance
    )
    assert (result.timing is None) == (device.kind != "gpu")


@pytest.mark.parametrize("name", MODELS)
def test_a_model_s_decode_step_with_ragged_lengths(device, name, dtype):
    stages = []
    job = decode_step(MODELS[name], (0, 1, 63, 100), block_size=16, dtype=dtype)

    result = run(job, device, stages.append)

    assert result.passed
    assert result.output.shape == (4, job.num_heads, 128)
    assert stages == ["parity", "timing"][: 1 + (device.kind == "gpu")]


def test_bfloat16_runs_on_a_gpu_and_is_refused_elsewhere(device):
    job = lesson("bfloat16")
    if device.kind == "gpu":
        assert run(job, device).passed
    else:
        with pytest.raises(JobError, match="bfloat16"):
            run(job, device)


def test_a_recording_survives_its_file(device, tmp_path):
    row = Row.of("lesson", run(lesson(), device))
    recording = Recording("2026-01-31", device, (row,))

    assert Recording.from_json(recording.to_json()) == recording
    assert row.passed
    assert row.kv_bytes == 6 * 2 * 4 * 4


def test_a_simulated_step_is_among_the_recorded_cases(tmp_path):
    step = tmp_path / "step17.json"
    step.write_text('{"block_tables": [[3, 1], [3, 2]], "seq_lens": [6, 8], "block_size": 4}')

    jobs = [job for case, job in cases(step) if case == "simulated step step17"]

    assert [job.dtype for job in jobs] == ["float32", "float16", "bfloat16"]
    assert jobs[0].block_tables == ((3, 1), (3, 2))
    assert bounds.num_tiles(jobs[0]) == 2 * 4
