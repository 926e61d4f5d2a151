"""What the benchmark runs: names, bytes, lengths, sweeps, and what is cut for the interpreter."""

from dataclasses import replace

from kernels.cases import PRESETS, Write, cases, cut, decode, lengths_of, simulated_step
from kernels.presets import MODELS, decode_step


def test_bytes_are_those_of_the_keys_and_values():
    tokens = 8 * 4096
    assert decode("Llama-3.1-8B", "8×4k").num_bytes == tokens * 8 * 128 * 2 * 2
    assert decode("Llama-3.1-8B", "8×4k", fp8=True).num_bytes == tokens * 8 * 128 * 2
    assert decode("Qwen2.5-7B", "8×4k", dtype="float32").num_bytes == tokens * 4 * 128 * 2 * 4
    assert Write("w", MODELS["MQA"], 1024).num_bytes == 1024 * 128 * 2 * 2 * 2  # read and written


def test_ragged_lengths_are_the_same_every_time_and_within_100_to_16k():
    lengths = lengths_of("ragged 64")

    assert len(lengths) == 64
    assert lengths == lengths_of("ragged 64") != lengths_of("ragged 256")[:64]
    assert 100 <= min(lengths) < 1000 < 8000 < max(lengths) <= 16_384


def test_all_holds_every_case_once_and_its_name_says_what_is_not_usual():
    names = [case.name for case in cases("all")]

    assert len(set(names)) == len(names)
    assert {case.name for preset in PRESETS for case in cases(preset)} == set(names)
    assert "Llama-3.1-8B 64×8k, fp8, blocks of 64" in names
    assert "Qwen2.5-7B 8×4k, contiguous" in names


def test_block_sizes_take_the_place_of_the_steps_own():
    swept = cases("smoke", [1, 64])

    assert len(swept) == 4 * 2 + 1
    assert [case.job.block_size for case in swept[:2]] == [1, 64]
    assert [case.name for case in swept[:2]] == [
        "Llama-3.1-8B 8×4k, blocks of 1",
        "Llama-3.1-8B 8×4k, blocks of 64",
    ]


def test_a_cut_case_is_short_keeps_its_proportions_and_runs_in_the_interpreter():
    ragged = replace(
        decode("Qwen2.5-7B", "8×4k"), job=decode_step(MODELS["Qwen2.5-7B"], (10, 1000))
    )
    (one,) = cut([ragged])

    assert one.job.seq_lens == (1, 50)
    assert (one.job.num_heads, one.job.num_kv_heads) == (7, 1)
    every = cases("all")
    assert len(cut(every)) < len(every)
    assert {case.dtype for case in cut(every)} == {"float32", "float16", "float8_e4m3fn"}


def test_a_simulated_step_is_read_from_a_file(tmp_path):
    step = tmp_path / "17.json"
    step.write_text('{"block_tables": [[3, 1], [3, 2]], "seq_lens": [6, 8], "block_size": 4}')

    case = simulated_step(step)

    assert case.name == "Qwen2.5-7B, simulated step 17"
    assert case.job.block_tables == ((3, 1), (3, 2))
    assert case.num_bytes == 14 * 2 * 4 * 128 * 2
