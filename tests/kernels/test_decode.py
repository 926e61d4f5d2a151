"""The paged decode kernel against float64 attention that never sees a cache or a table.

The pool is NaN wherever no token lies, so a read too many shows in the output.
"""

from dataclasses import replace

import pytest
import torch

from kernels import reference
from kernels.decode import paged_attention
from kernels.inputs import make_inputs
from kernels.job import TOLERANCE
from kernels.parity import float64_reference
from kernels.presets import Model, decode_step

SMALL = Model("small", 2, 1, 64)
RAGGED = (0, 1, 3, 4, 5, 15, 16, 17, 64, 65, 130)


@pytest.fixture
def inputs_of(torch_dev):
    """Inputs for a model and lengths, filled by the torch writer."""

    def make(model=SMALL, seq_lens=(7, 70), **options):
        job = decode_step(model, seq_lens, **options)
        return make_inputs(job, reference.reshape_and_cache_flash, torch_dev)

    return make


def arguments(inputs):
    return (
        inputs.query,
        inputs.key_cache,
        inputs.value_cache,
        inputs.block_tables,
        inputs.seq_lens,
        inputs.scale,
    )


def worst_error(out, inputs):
    return (out.double() - float64_reference(inputs)).abs().max().item()  # NaN if any is


@pytest.mark.parametrize("block_size", [1, 3, 4, 16, 100])
def test_ragged_lengths_in_any_block_size(inputs_of, block_size, dtype):
    inputs = inputs_of(seq_lens=RAGGED, block_size=block_size, dtype=dtype)

    out = paged_attention(*arguments(inputs))

    assert worst_error(out, inputs) <= TOLERANCE[dtype]
    assert out[0].abs().max() == 0  # no tokens: zeros


@pytest.mark.parametrize(
    "model",
    [
        Model("MHA", 4, 4, 64),
        Model("GQA 4:1", 8, 2, 128),
        Model("GQA 7:1", 14, 2, 128),
        Model("GQA 3:1", 6, 2, 80),
        Model("MQA", 20, 1, 64),
        Model("the lesson's head", 1, 1, 4),
    ],
    ids=lambda model: model.name,
)
def test_heads_of_any_ratio_and_size(inputs_of, model, dtype):
    inputs = inputs_of(model, (5, 33, 66), block_size=4, dtype=dtype)

    assert worst_error(paged_attention(*arguments(inputs)), inputs) <= TOLERANCE[dtype]


def test_a_shuffled_table_gives_the_same_bits(inputs_of, dtype):
    shuffled = inputs_of(seq_lens=RAGGED, order="shuffled", dtype=dtype)
    contiguous = inputs_of(seq_lens=RAGGED, order="contiguous", dtype=dtype)

    assert not torch.equal(shuffled.block_tables, contiguous.block_tables)
    assert torch.equal(
        paged_attention(*arguments(shuffled)), paged_attention(*arguments(contiguous))
    )


@pytest.mark.parametrize("padding", [-1, 2**31 - 1, 0, 1])
def test_padded_table_entries_are_never_read(inputs_of, padding):
    """Block 0 is all NaN here, block 1 a living one, the others lie far outside the pool."""
    inputs = inputs_of(seq_lens=(1, 4, 5, 0, 90), block_size=4)
    expected = paged_attention(*arguments(inputs))
    tables = torch.where(inputs.block_tables < 0, padding, inputs.block_tables)

    out = paged_attention(*arguments(replace(inputs, block_tables=tables)))

    assert torch.equal(out, expected)


def test_a_table_that_ends_with_the_sequence(inputs_of):
    """A read past the row would find the next row's block; past the last, other memory."""
    inputs = inputs_of(seq_lens=(5, 8), block_size=4)

    assert inputs.block_tables.shape == (2, 2)
    assert worst_error(paged_attention(*arguments(inputs)), inputs) <= TOLERANCE["float32"]


def test_every_output_is_written_and_nothing_beside_it(inputs_of):
    inputs = inputs_of(Model("", 3, 1, 20), (0, 9))
    room = torch.full((2, 5, 32), float("nan"), device=inputs.query.device)
    out = room[:, 1:4, :20]

    assert paged_attention(*arguments(inputs), out=out) is out
    assert worst_error(out, inputs) <= TOLERANCE["float32"]
    assert torch.isnan(room).sum() == room.numel() - out.numel()


def test_strided_query_and_packed_cache(inputs_of):
    inputs = inputs_of(Model("", 4, 2, 64), (3, 40), block_size=4)
    packed = torch.cat([inputs.key_cache, inputs.value_cache], -1).transpose(1, 2).contiguous()
    key_cache, value_cache = packed.transpose(1, 2).split(64, -1)  # heads first in memory
    query = torch.cat([inputs.query, inputs.query], -1)[..., :64]
    strided = replace(inputs, query=query, key_cache=key_cache, value_cache=value_cache)

    assert torch.equal(paged_attention(*arguments(strided)), paged_attention(*arguments(inputs)))


def test_caches_with_strides_of_their_own(inputs_of):
    inputs = inputs_of(Model("", 4, 2, 64), (3, 40), block_size=4)
    roomy = torch.full(
        (*inputs.value_cache.shape[:3], 96), float("nan"), device=inputs.query.device
    )
    roomy[..., :64] = inputs.value_cache
    apart = replace(inputs, value_cache=roomy[..., :64])

    assert torch.equal(paged_attention(*arguments(apart)), paged_attention(*arguments(inputs)))


def test_the_running_max_may_grow_and_be_large(inputs_of):
    """Scores to ±400 that rise from tile to tile: each tile rescales all before it."""
    inputs = inputs_of(seq_lens=(200,), block_size=16)
    steep = replace(inputs, scale=inputs.scale * 100)
    rise = torch.linspace(0.1, 1.0, 200, device=inputs.query.device)
    slots = inputs.block_tables[0].repeat_interleave(16)[:200] * 16
    slots = slots + torch.arange(200, device=slots.device) % 16
    inputs.key_cache.view(-1, 64)[slots.long()] *= rise[:, None]
    inputs.key.mul_(rise[:, None, None])

    assert worst_error(paged_attention(*arguments(steep)), steep) <= 1e-4  # 400 · 2⁻²⁴ is 2e-5


def test_a_block_beyond_two_to_the_31_elements(torch_dev):
    num_blocks = 2**31 // (16 * 64) + 8
    cache = torch.empty(num_blocks, 16, 1, 64, dtype=torch.float16, device=torch_dev)  # untouched
    cache[-1, :3] = torch.arange(3, device=torch_dev)[:, None, None]
    query = torch.zeros(1, 1, 64, dtype=torch.float16, device=torch_dev)
    table = torch.tensor([[num_blocks - 1]], dtype=torch.int32, device=torch_dev)
    seq_lens = torch.tensor([3], dtype=torch.int32, device=torch_dev)

    out = paged_attention(query, cache, cache, table, seq_lens, 1.0)

    assert torch.allclose(out, torch.ones_like(out), atol=1e-3)  # the mean of 0, 1, 2


def test_no_sequences_is_no_work(torch_dev):
    cache = torch.zeros(1, 4, 1, 64, device=torch_dev)
    table = torch.zeros(0, 1, dtype=torch.int32, device=torch_dev)
    out = paged_attention(cache[:0, 0], cache, cache, table, table[:, 0], 1.0)

    assert out.shape == (0, 1, 64)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("query", lambda a: a.update(query=a["query"][0])),
        ("query", lambda a: a.update(query=a["query"][:, :3])),
        ("query", lambda a: a.update(query=a["query"].mT.contiguous().mT)),
        ("key_cache", lambda a: a.update(key_cache=a["key_cache"][0])),
        ("key_cache", lambda a: a.update(key_cache=a["key_cache"].half())),
        ("key_cache", lambda a: a.update(key_cache=a["key_cache"][..., :32])),
        ("key_cache", lambda a: a.update(key_cache=a["key_cache"].to("meta"))),
        ("key_cache", lambda a: a.update({n: a[n].double() for n in a if n[:2] in ("qu", "ke")})),
        ("value_cache", lambda a: a.update(value_cache=a["value_cache"][:2])),
        ("value_cache", lambda a: a.update(value_cache=a["value_cache"].half())),
        ("block_tables", lambda a: a.update(block_tables=a["block_tables"].long())),
        ("block_tables", lambda a: a.update(block_tables=a["block_tables"][:1])),
        ("seq_lens", lambda a: a.update(seq_lens=a["seq_lens"][:1])),
        ("seq_lens", lambda a: a.update(seq_lens=a["seq_lens"].long())),
        ("out", lambda a: a.update(out=a["query"][:1])),
        ("out", lambda a: a.update(out=a["query"].half())),
    ],
)
def test_a_wrong_argument_is_named(inputs_of, name, change):
    names = ("query", "key_cache", "value_cache", "block_tables", "seq_lens", "scale")
    inputs = inputs_of(Model("", 4, 2, 64), (3, 9), block_size=4)
    wrong = dict(zip(names, arguments(inputs), strict=True))
    change(wrong)

    with pytest.raises(ValueError, match=f"^{name} "):
        paged_attention(**wrong)
