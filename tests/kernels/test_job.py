"""Jobs and their bounds: what is refused, in which words, and how a job is cut to fit."""

from dataclasses import replace

import numpy as np
import pytest

from kernels import bounds
from kernels.job import Device, JobError, Result, Timing
from kernels.presets import MODELS, decode_step, lesson

QWEN = MODELS["Qwen2.5-7B"]
CPU = Device("interpreter", "Triton interpreter on CPU", "2.13.0", "3.7.1")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seq_lens": (6, 1)}, "1 block tables and 2 lengths"),
        ({"seq_lens": (9,)}, "Sequence 0 has 9 tokens; its 2 blocks of 4 hold 0 to 8"),
        ({"seq_lens": (-1,)}, "Sequence 0 has -1 tokens"),
        ({"block_tables": ((3, -2),)}, "holds -2"),
        ({"block_size": 0}, "block size 0"),
        ({"seed": -1}, "seed -1"),
        ({"dtype": "int8"}, "dtype int8"),
        ({"num_heads": 5, "num_kv_heads": 2}, "5 heads cannot share 2 KV heads"),
        ({"num_heads": 0}, "0 heads"),
        ({"head_size": 129}, "A head of 129 in float32"),
    ],
)
def test_an_impossible_job_is_refused_with_its_number(change, words):
    with pytest.raises(JobError, match=words):
        replace(lesson(), **change)


def test_block_tables_of_a_decode_step():
    contiguous = decode_step(QWEN, (33, 0, 100), order="contiguous")
    shuffled = decode_step(QWEN, (33, 0, 100), seed=1)

    assert contiguous.block_tables == ((1, 2, 3), (), (4, 5, 6, 7, 8, 9, 10))
    assert sorted(sum(shuffled.block_tables, ())) == list(range(1, 11))
    assert shuffled.block_tables != contiguous.block_tables
    assert shuffled == decode_step(QWEN, (33, 0, 100), seed=1)


def test_bytes_of_one_call():
    step = decode_step(QWEN, (4096,) * 8, dtype="bfloat16")

    assert step.kv_bytes == 8 * 4096 * 4 * 128 * 2 * 2
    assert step.num_blocks == 1 + 8 * 256


def test_the_interpreter_refuses_what_would_take_too_long():
    step = decode_step(QWEN, (4096,) * 8)

    with pytest.raises(JobError, match=r"2,048 tiles .* about 31 s: at most 512 tiles, about 8 s"):
        bounds.check(step, "interpreter")
    bounds.check(step, "gpu", free_bytes=10**10)


def test_the_interpreter_refuses_bfloat16():
    with pytest.raises(JobError, match="bfloat16 wrongly"):
        bounds.check(lesson("bfloat16"), "interpreter")


def test_too_little_memory_is_refused_with_both_numbers():
    with pytest.raises(JobError, match=r"needs 0\.8 GB and 0\.5 GB may be used"):
        bounds.check(decode_step(QWEN, (32768,)), "gpu", free_bytes=5 * 10**8)


@pytest.mark.parametrize(
    ("seq_lens", "words"),
    [
        ((4096,) * 4, "2 of 4 KV heads (14 of 28 heads)"),
        ((4096,) * 8, "1 of 4 KV heads (7 of 28 heads)"),
        ((4096,) * 9, "1 of 4 KV heads (7 of 28 heads), 8 of 9 sequences"),
        ((40000, 5), "1 of 4 KV heads (7 of 28 heads), 1 of 2 sequences, 32,768 of 40,000 tokens"),
        ((64,) * 128, ""),
    ],
)
def test_a_cut_is_the_largest_that_fits(seq_lens, words):
    step = decode_step(QWEN, seq_lens)
    cut = bounds.fit(step, "interpreter")

    assert bounds.describe_cut(step, cut) == words
    bounds.check(cut, "interpreter")
    assert cut.num_heads == 7 * cut.num_kv_heads
    assert bounds.fit(step, "gpu") is step


def result(output, timing=None):
    reference = np.zeros((1, 1, 4))
    return Result(lesson(), CPU, np.array(output).reshape(1, 1, 4), reference, 0.1, timing)


def test_an_output_that_is_no_number_does_not_pass():
    assert result([0, 1e-7, 0, 0]).passed
    assert result([0, 2e-6, 0, np.nan]).outside == 2
    assert result([0, 0, 0, np.nan]).worst == np.inf


def test_time_and_bandwidth():
    timing = Timing(tuple(float(us) for us in range(90, 111)), 40, 4, 300, 100)

    assert timing.median_us == 100
    assert timing.spread == pytest.approx(0.16)
    assert timing.defeats_l2
    assert result([0] * 4, timing).tb_per_s == pytest.approx(6 * 2 * 4 * 4 / 100e-6 / 1e12)
