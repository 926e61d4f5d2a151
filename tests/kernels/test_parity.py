"""Whole runs on the device at hand: the writer, the gather and the arithmetic at once."""

import pytest

from kernels.job import JobError
from kernels.parity import run
from kernels.presets import MODELS, decode_step, lesson


def test_the_lesson_s_example(device, dtype):
    result = run(lesson(dtype), device)

    assert result.passed
    assert result.reference.flatten() == pytest.approx(
        [0.363083, 0.449897, 0.392487, 0.386499], abs=2 * result.tolerance
    )
    assert (result.timing is None) == (device.kind != "gpu")


@pytest.mark.parametrize("name", ["Qwen2.5-7B", "Llama-3.1-8B"])
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
