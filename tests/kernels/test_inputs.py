"""The inputs of a job: where its tokens lie, and that nothing else holds a number."""

import torch

from kernels import reference
from kernels.inputs import make_inputs
from kernels.job import Job
from kernels.presets import lesson

SHARED = Job("shared", ((3, 1), (3, 2, 5)), (6, 9), 4, 2, 1, 8, "float32", seed=5)


def filled(job):
    return make_inputs(job, reference.reshape_and_cache_flash, torch.device("cpu"))


def test_the_lesson_s_tokens_lie_in_blocks_3_and_1():
    inputs = filled(lesson())

    assert inputs.key_cache[3, :, 0, 0].tolist() == torch.tensor([0.2, 0.9, -0.5, 0.1]).tolist()
    assert inputs.value_cache[1, :2, 0].tolist() == [[0.5] * 4, [1.0] * 4]
    assert inputs.block_tables.tolist() == [[3, 1]]
    assert torch.isnan(inputs.key_cache[[0, 2]]).all()
    assert torch.isnan(inputs.key_cache[1, 2:]).all()


def test_a_shared_block_is_written_once_and_read_by_both():
    inputs = filled(SHARED)

    assert inputs.key.shape[0] == 4 + 2 + 4 + 1  # block 3 once, then 1, 2 and 5
    assert inputs.token_rows[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert inputs.token_rows[1].tolist() == [0, 1, 2, 3, 6, 7, 8, 9, 10]
    assert torch.equal(inputs.key_cache[3], inputs.key[:4])
    assert torch.equal(inputs.value_cache[5, :1], inputs.value[10:])
    written = ~torch.isnan(inputs.key_cache).any(-1).any(-1)
    assert written.sum(1).tolist() == [0, 2, 4, 4, 0, 1]


def test_contents_depend_on_the_seed_and_not_on_the_ids():
    moved = Job("moved", ((1, 2), (1, 7, 4)), (6, 9), 4, 2, 1, 8, "float32", seed=5)
    other = Job("other", *((SHARED.block_tables, SHARED.seq_lens)), 4, 2, 1, 8, "float32", seed=6)

    assert torch.equal(filled(moved).key, filled(SHARED).key)
    assert torch.equal(filled(moved).query, filled(SHARED).query)
    assert not torch.equal(filled(other).key, filled(SHARED).key)


def test_tables_are_padded_with_an_id_that_no_pool_has():
    assert filled(SHARED).block_tables.tolist() == [[3, 1, -1], [3, 2, 5]]


def test_sequences_without_tokens():
    inputs = filled(Job("empty", ((), ()), (0, 0), 4, 2, 1, 8, "float32"))

    assert inputs.block_tables.shape == (2, 1)
    assert inputs.key.shape == (0, 1, 8)
    assert [rows.tolist() for rows in inputs.token_rows] == [[], []]
