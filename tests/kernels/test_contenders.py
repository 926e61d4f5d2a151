"""The benchmark's kernels: right on the device at hand, and what is wrong is noticed."""

from dataclasses import replace

import pytest
import torch

from kernels import bench, cache_write, contest
from kernels.cases import Write, cases
from kernels.contenders import attends, split
from kernels.job import TOLERANCE
from kernels.pools import float64_attention, make_pools, relative_error
from kernels.read_limit import readers
from kernels.reference import dense_attention, reshape_and_cache_flash
from kernels.writes import WRITE, make_writes
from tests.kernels.small import SMALL, small


def test_the_reference_attends_to_what_the_cache_holds(torch_dev):
    pools = make_pools(small((0, 5), fp8=True), torch_dev, 1)
    block = pools.case.job.block_tables[1][0]
    key, value = (c[block, :5].double() for c in pools.caches[0])

    out = float64_attention(pools, 0, pools.query)

    assert out[0].abs().max() == 0
    assert torch.equal(
        out[1], dense_attention(pools.query[1].double(), 0.5 * key, value, pools.scale)
    )


def test_the_error_is_relative_to_a_head_and_infinite_for_what_is_no_number():
    reference = torch.tensor([[[3.0, 4.0], [0.3, 0.4]], [[0.0, 0.0], [1.0, 0.0]]])
    output = reference.clone()
    output[0, 1, 0] += 0.05

    assert relative_error(output, reference.double()) == pytest.approx(0.1)
    output[1, 0, 1] = 0.25
    assert relative_error(output, reference.double()) == pytest.approx(0.25)
    output[0, 0, 0] = float("nan")
    assert relative_error(output, reference.double()) == float("inf")


def test_a_lost_block_of_a_long_sequence_is_noticed(torch_dev):
    pools = make_pools(small((4096,), dtype="float32"), torch_dev, 1)
    lost = make_pools(small((4080,), dtype="float32"), torch_dev, 1)  # 255 of 256 blocks

    def run(pool):
        return float64_attention(replace(lost, caches=pools.caches, block_tables=table), 0, query)

    table, query = pools.block_tables, pools.query
    contender = attends(pools, run)

    assert (run(0) - pools.reference(0)).abs().max() < TOLERANCE["float16"] * 4
    assert contender.worst() > TOLERANCE["bfloat16"] > contender.tolerance


def test_what_a_call_leaves_unwritten_and_what_is_wrong_in_the_last_cache_is_noticed(torch_dev):
    pools = make_pools(small(), torch_dev, 3)
    right = attends(pools, pools.reference)
    wrong_at_the_end = attends(pools, lambda pool: pools.reference(pool) * (1 + pool // 2))

    pools.out.copy_(pools.reference(0))
    assert attends(pools, lambda pool: pools.out).worst() == float("inf")
    assert right.worst() == 0
    assert wrong_at_the_end.worst() == 1


def test_every_kernel_is_right_and_on_a_gpu_timed(device):
    timed = device.kind == "gpu"
    heard = []

    point = contest.measure(small((40, 17)), device, (), timed, heard.append)
    uniform = contest.measure(small(), device, (), timed, heard.append)
    fp8 = contest.measure(small(fp8=True), device, (), timed, heard.append)
    write = contest.measure(Write("write", SMALL, 40, dtype="float16"), device, (), timed, str)

    limit = ["read limit"] * timed
    assert [row.kernel for row in point.rows] == [*limit, "ours", "v1", "v2"]
    assert [row.kernel for row in uniform.rows] == [*limit, "ours", "v1", "v2", "SDPA, dense"]
    assert [row.kernel for row in fp8.rows] == [*limit, "ours", "v1", "v2"]
    assert [row.kernel for row in write.rows] == [*["copy"] * timed, "flash", "x-split"]
    for measured in (point, uniform, fp8, write):
        assert all(row.passed for row in measured.rows), bench.table(measured)
        assert all((row.median_us is not None) == timed for row in measured.rows)
    assert heard[: 1 + timed] == [*limit, "ours"]


def test_the_lesson_is_compared_with_its_own_vectors(torch_dev):
    (case,) = cases("lesson")

    assert make_pools(case, torch_dev, 2).reference(1).flatten().tolist() == pytest.approx(
        [0.363083, 0.449897, 0.392487, 0.386499], abs=1e-6
    )


def skips_one(key, value, key_cache, value_cache, slots):
    reshape_and_cache_flash(key[1:], value[1:], key_cache, value_cache, slots[1:])


def writes_elsewhere_too(key, value, key_cache, value_cache, slots):
    reshape_and_cache_flash(key, value, key_cache, value_cache, slots)
    value_cache[value_cache.isnan()] = 1.0


def rounds(key, value, key_cache, value_cache, slots):
    reshape_and_cache_flash(key + 0.25, value, key_cache, value_cache, slots)


@pytest.mark.parametrize(
    ("write", "worst"),
    [
        (reshape_and_cache_flash, 0.0),
        (skips_one, float("inf")),
        (writes_elsewhere_too, float("inf")),
        (rounds, pytest.approx(0.25, abs=2e-3)),
    ],
)
def test_a_write_is_compared_slot_by_slot(monkeypatch, torch_dev, write, worst):
    monkeypatch.setattr(cache_write, "reshape_and_cache_flash", write)
    writes = make_writes(Write("write", SMALL, 40, dtype="float16"), torch_dev, 1)

    assert WRITE["flash"](writes).worst() == worst


def test_the_limit_reads_each_word_once_and_none_after(torch_dev):
    num_words = 40_000
    key, value = torch.arange(1, 2 * num_words + 1, dtype=torch.int32).view(2, -1).to(torch_dev)
    key, value = (torch.nn.functional.pad(words, (0, 99), value=2**30) for words in (key, value))

    for read in readers(num_words, torch_dev):
        sums = read(key, value).long().sum(1)
        wanted = torch.stack([key, value])[:, :num_words].long().sum(1)
        assert torch.equal(sums % 2**32, wanted % 2**32)


def test_the_classic_layout_holds_the_same_elements(torch_dev):
    cache = torch.arange(3 * 4 * 2 * 16, dtype=torch.float16, device=torch_dev).view(3, 4, 2, 16)

    key, value = split(cache, cache)

    assert key.shape == (3, 2, 2, 4, 8)
    assert key[2, 1, 1, 3, 5] == cache[2, 3, 1, 8 + 5]
    assert value[2, 1, 13, 3] == cache[2, 3, 1, 13]
