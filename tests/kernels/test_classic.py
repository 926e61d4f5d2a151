"""v1 and v2 on the classic layout against float64 attention that never sees a cache or a table.

The pool, the workspaces and the output are NaN until something is written there.
"""

import ctypes
import mmap
from dataclasses import replace
from functools import partial

import pytest
import torch

from kernels import classic, reference
from kernels.cache_write import reshape_and_cache
from kernels.classic import (
    max_num_partitions,
    paged_attention_v1,
    paged_attention_v2,
    split_kv_cache,
    uses_v1,
)
from kernels.inputs import make_inputs
from kernels.job import TOLERANCE, Given, Job
from kernels.parity import float64_reference
from kernels.presets import LESSON_KEY, LESSON_QUERY, LESSON_VALUE, Model, decode_step

NAN = float("nan")
SMALL = Model("small", 2, 1, 32)
RAGGED = (0, 1, 16, 17, 32, 33, 65)
KERNELS = {
    "v1": paged_attention_v1,
    "v1 two-pass": partial(paged_attention_v1, two_pass=True),
    "v2": paged_attention_v2,
    "v2 two-pass": partial(paged_attention_v2, two_pass=True),
}


@pytest.fixture(params=KERNELS)
def attend(request):
    return KERNELS[request.param]


@pytest.fixture
def small_partitions(monkeypatch):
    """Partitions of 32 tokens, merged two at a time: many of both in little time."""
    monkeypatch.setattr(classic, "PARTITION_SIZE", 32)
    monkeypatch.setattr(classic, "REDUCE_SIZE", 2)


@pytest.fixture(autouse=True)
def workspaces(monkeypatch):
    """What torch.empty gives is NaN, and is kept here."""
    made = []
    for name in ("empty", "empty_like"):
        monkeypatch.setattr(torch, name, partial(_poisoned, made, getattr(torch, name)))
    return made


def _poisoned(made, empty, *shape, **options):
    tensor = empty(*shape, **options)
    if tensor.is_floating_point() and tensor.numel() < 2**20:
        made.append(tensor.fill_(NAN))
    return tensor


@pytest.fixture
def inputs_of(torch_dev):
    """Inputs for a model and lengths, their caches in the classic layout."""

    def make(model=SMALL, seq_lens=(7, 70), **options):
        job = decode_step(model, seq_lens, **options)
        return split(make_inputs(job, reference.reshape_and_cache_flash, torch_dev))

    return make


def split(inputs):
    num_blocks, _, num_kv_heads, head_size = inputs.key_cache.shape
    chunks = inputs.key_cache.unflatten(3, (-1, 16 // inputs.key_cache.element_size()))
    caches = chunks.permute(0, 2, 3, 1, 4), inputs.value_cache.permute(0, 2, 3, 1)
    kv_cache = torch.stack([cache.reshape(num_blocks, -1) for cache in caches])
    key_cache, value_cache = split_kv_cache(kv_cache, num_kv_heads, head_size)
    return replace(inputs, key_cache=key_cache, value_cache=value_cache)


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


def test_the_lesson_through_the_writer(torch_dev, attend):
    """The lesson's six tokens, written by slot mapping to blocks 3 and 1, give its result."""
    key, value = (torch.tensor(rows, device=torch_dev)[:, None] for rows in LESSON_TOKENS)
    caches = split_kv_cache(torch.full((2, 5, 4 * 4), NAN, device=torch_dev), 1, 4)
    reshape_and_cache(key, value, *caches, torch.tensor([12, 13, 14, 15, 4, 5], device=torch_dev))
    query = torch.tensor([[LESSON_QUERY]], device=torch_dev)
    table, seq_lens = torch.tensor([[3, 1]]).int(), torch.tensor([6]).int()

    out = attend(query, *caches, table.to(torch_dev), seq_lens.to(torch_dev), 4**-0.5)

    expected = [0.363083, 0.449897, 0.392487, 0.386499]
    assert out[0, 0].tolist() == pytest.approx(expected, abs=1e-6)


LESSON_TOKENS = (LESSON_KEY, LESSON_VALUE)


@pytest.mark.parametrize(
    ("kernel", "block_size"),
    [*(("v1", n) for n in (1, 3, 16, 100)), ("v2", 3), ("v2 two-pass", 16)],
)
@pytest.mark.usefixtures("small_partitions")
def test_ragged_lengths_in_any_block_size(inputs_of, kernel, block_size):
    inputs = inputs_of(seq_lens=RAGGED, block_size=block_size)

    out = KERNELS[kernel](*arguments(inputs))

    assert worst_error(out, inputs) <= TOLERANCE["float32"]
    assert out[0].abs().max() == 0  # no tokens: zeros
    only_value = inputs.value[inputs.token_rows[1]]
    assert torch.equal(out[1:2], only_value.expand(1, 2, 32))  # one token: its value, unchanged


@pytest.mark.parametrize(
    "model",
    [
        Model("MHA", 2, 2, 32),
        Model("GQA 4:1", 8, 2, 96),
        Model("GQA 7:1", 7, 1, 80),
        Model("MQA 8:1", 8, 1, 112),
        Model("head of 120", 1, 1, 120),
        Model("head of 128", 1, 1, 128),
    ],
    ids=lambda model: model.name,
)
def test_heads_of_any_ratio_and_size(inputs_of, model, dtype):
    inputs = inputs_of(model, (33,), block_size=4, dtype=dtype)

    assert worst_error(paged_attention_v2(*arguments(inputs)), inputs) <= TOLERANCE[dtype]


def test_bfloat16_in_a_head_of_256(inputs_of, device, attend):
    inputs = inputs_of(Model("", 1, 1, 256), (5, 33), dtype="bfloat16")
    roundings = 1 if device.kind == "gpu" else 2  # the interpreter cuts: twice the error of each

    error = worst_error(attend(*arguments(inputs)), inputs)

    assert error <= roundings * TOLERANCE["bfloat16"]


def test_lengths_about_the_ends_of_partitions(inputs_of, monkeypatch):
    monkeypatch.setattr(classic, "TILE_SIZE", 64)  # fewer steps
    monkeypatch.setattr(classic, "REDUCE_SIZE", 2)  # three partitions take two steps
    inputs = inputs_of(Model("", 1, 1, 32), (0, 511, 512, 513, 1023, 1024, 1025), block_size=64)

    out = paged_attention_v2(*arguments(inputs))

    assert worst_error(out, inputs) <= TOLERANCE["float32"]
    assert out[0].abs().max() == 0


@pytest.mark.parametrize("two_pass", [False, True])
def test_partitions_past_the_end_are_neither_written_nor_read(inputs_of, two_pass):
    """What v2 leaves in its workspaces, partition by partition, against float64."""
    inputs = inputs_of(seq_lens=(0, 5, 513), block_size=64)
    exp_sums, max_logits = torch.full((2, 3, 2, 4), NAN, device=inputs.query.device)
    tmp_out = torch.full((3, 2, 4, 32), NAN, device=inputs.query.device)

    out = paged_attention_v2(
        *arguments(inputs),
        max_seq_len=1537,
        two_pass=two_pass,
        exp_sums=exp_sums,
        max_logits=max_logits,
        tmp_out=tmp_out,
    )

    assert worst_error(out, inputs) <= TOLERANCE["float32"]
    for workspace in (exp_sums, max_logits, tmp_out[..., 0], tmp_out[..., -1]):
        used = ~torch.isnan(workspace).any(1)  # [num_seqs, max_num_partitions]
        assert used.int().tolist() == [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0]]
    rows = inputs.token_rows[2]
    scores = inputs.query[2].double() @ inputs.key[rows, 0].double().T * inputs.scale
    for partition, part in enumerate(scores.split(512, 1)):
        largest = part.max(1).values
        assert torch.allclose(max_logits[2, :, partition].double(), largest, rtol=1e-6)
        exp_sum = (part - largest[:, None]).exp().sum(1)
        assert torch.allclose(exp_sums[2, :, partition].double(), exp_sum, rtol=1e-5)


def test_two_passes_keep_every_score(inputs_of, workspaces):
    """The interpreter runs program after program: it would not show two that share a row."""
    inputs = inputs_of(seq_lens=(3, 40), block_size=4)

    paged_attention_v1(*arguments(inputs), max_seq_len=41, two_pass=True)

    (logits,) = (tensor for tensor in workspaces if tensor.shape == (2, 2, 41))
    assert torch.isnan(logits).sum(-1).tolist() == [[38, 38], [1, 1]]
    for seq, rows in enumerate(inputs.token_rows):
        scores = inputs.query[seq].double() @ inputs.key[rows, 0].double().T * inputs.scale
        assert torch.allclose(logits[seq, :, : len(rows)].double(), scores, atol=1e-5)


@pytest.mark.parametrize("padding", [-1, 2**31 - 1, 0, 1])
@pytest.mark.usefixtures("small_partitions")
def test_padded_table_entries_are_never_read(inputs_of, attend, padding):
    """Block 0 is all NaN here, block 1 a living one, the others lie far outside the pool."""
    inputs = inputs_of(Model("", 1, 1, 32), (1, 5, 0, 36), block_size=4)
    expected = attend(*arguments(inputs))
    tables = torch.where(inputs.block_tables < 0, padding, inputs.block_tables)

    out = attend(*arguments(replace(inputs, block_tables=tables)))

    assert torch.equal(out, expected)


def test_nothing_is_read_past_a_table_or_the_lengths(inputs_of, attend):
    """Both end where readable memory ends: here a read too many ends the process."""
    inputs = inputs_of(seq_lens=(5, 8), block_size=4)
    tables, seq_lens = before_a_wall(inputs.block_tables), before_a_wall(inputs.seq_lens)

    out = attend(*arguments(replace(inputs, block_tables=tables, seq_lens=seq_lens)))

    assert tables.shape == (2, 2)
    assert worst_error(out, inputs) <= TOLERANCE["float32"]


def before_a_wall(tensor):
    """A copy whose last byte is the last of a page, with a forbidden page behind it.

    On a GPU the tensor itself: compute-sanitizer watches there.
    """
    if tensor.is_cuda:
        return tensor
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    wall = ctypes.addressof(ctypes.c_char.from_buffer(pages)) + mmap.PAGESIZE
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(wall), mmap.PAGESIZE, 0) == 0
    count = mmap.PAGESIZE // tensor.element_size()
    page = torch.frombuffer(pages, dtype=tensor.dtype, count=count)
    return page[-tensor.numel() :].view(tensor.shape).copy_(tensor)


@pytest.mark.usefixtures("small_partitions")
def test_every_token_counts_once_and_by_its_own_weight(torch_dev, attend):
    """Values are the unit vectors: output d is the weight of token d."""
    torch.manual_seed(0)
    query, key = torch.randn(1, 96).tolist(), torch.randn(75, 96).tolist()
    given = Given(
        tuple(query[0]), tuple(map(tuple, key)), tuple(map(tuple, torch.eye(75, 96).tolist()))
    )
    table = tuple(torch.randperm(19).tolist())
    job = Job("one-hot", (table,), (75,), 4, 1, 1, 96, "float32", given=given)
    inputs = split(make_inputs(job, reference.reshape_and_cache_flash, torch_dev))

    out = attend(*arguments(inputs))[0, 0].double()

    weights = float64_reference(inputs)[0, 0]
    assert weights[:75].min() > 1e-6
    assert torch.allclose(out, weights, rtol=1e-5, atol=0)


def test_a_shuffled_table_gives_the_same_bits(inputs_of, attend):
    shuffled = inputs_of(seq_lens=(5, 33), block_size=4, order="shuffled")
    contiguous = inputs_of(seq_lens=(5, 33), block_size=4, order="contiguous")

    assert not torch.equal(shuffled.block_tables, contiguous.block_tables)
    assert torch.equal(attend(*arguments(shuffled)), attend(*arguments(contiguous)))


@pytest.mark.usefixtures("small_partitions")
def test_the_largest_score_may_grow_and_be_large(inputs_of, attend):
    """Scores to ±400 that rise from tile to tile and from partition to partition."""
    inputs = inputs_of(Model("", 1, 1, 32), (100,), block_size=100)
    rise = torch.linspace(0.1, 1.0, 100, device=inputs.query.device)
    inputs.key_cache[inputs.block_tables[0, 0]] *= rise[None, None, :, None]
    inputs.key.mul_(rise[:, None, None])
    steep = replace(inputs, scale=inputs.scale * 100)

    assert worst_error(attend(*arguments(steep)), steep) <= 1e-4  # 400 · 2⁻²⁴ is 2e-5


@pytest.mark.usefixtures("small_partitions")
def test_alibi_weighs_a_token_by_its_distance(torch_dev, attend):
    """With no query, slope ln 2 halves the weight with each step back; slope 0 leaves all equal."""
    caches = split_kv_cache(torch.full((2, 3, 16 * 40), NAN, device=torch_dev), 1, 40)
    key, value = torch.ones(33, 1, 40, device=torch_dev), torch.eye(33, 40, device=torch_dev)
    reshape_and_cache(key, value[:, None], *caches, torch.arange(33, device=torch_dev))
    table = torch.tensor([[0, 1, 2]], dtype=torch.int32, device=torch_dev)
    seq_lens = torch.tensor([33], dtype=torch.int32, device=torch_dev)
    slopes = torch.tensor([2.0, 1.0]).log().to(torch_dev)

    out = attend(
        torch.zeros(1, 2, 40, device=torch_dev), *caches, table, seq_lens, 1.0, alibi_slopes=slopes
    )

    halves = 0.5 ** torch.arange(32, -1, -1, dtype=torch.float64, device=torch_dev)
    assert torch.allclose(out[0, 0, :33].double(), halves / halves.sum(), rtol=1e-5, atol=0)
    assert torch.allclose(out[0, 1, :33].double(), torch.full_like(halves, 1 / 33), rtol=1e-5)


def test_alibi_takes_nothing_from_the_last_token(inputs_of):
    inputs = inputs_of(Model("", 1, 1, 32), (7,))
    max_logits = torch.ones(1, 1, 1, device=inputs.query.device)
    slopes = torch.ones(1, device=inputs.query.device)

    inputs.query.zero_()
    paged_attention_v2(
        *arguments(inputs), max_seq_len=7, alibi_slopes=slopes, max_logits=max_logits
    )

    assert max_logits.item() == 0


@pytest.mark.parametrize(
    ("fp8", "k_scale", "v_scale"),
    [
        (torch.float8_e4m3fn, 0.5, 2.0),
        (torch.float8_e4m3fn, 7.0, 0.5),
        (torch.float8_e5m2, 2.0, 7.0),
    ],
    ids=str,
)
@pytest.mark.usefixtures("small_partitions")
def test_fp8_caches_stand_for_themselves_times_their_scales(
    inputs_of, attend, fp8, k_scale, v_scale
):
    model = Model("", 2, 1, 48)
    job = decode_step(model, (5, 35), block_size=16)
    plain = make_inputs(job, reference.reshape_and_cache_flash, inputs_of().query.device)
    stored = {
        name: (getattr(plain, name) / (k_scale if "key" in name else v_scale)).to(fp8)
        for name in ("key", "value", "key_cache", "value_cache")
    }
    inputs = split(replace(plain, **stored))

    out = attend(*arguments(inputs), k_scale=k_scale, v_scale=v_scale)

    meant = replace(
        inputs, key=inputs.key.double() * k_scale, value=inputs.value.double() * v_scale
    )
    assert worst_error(out, meant) <= TOLERANCE["float32"]


@pytest.mark.usefixtures("small_partitions")
def test_an_fp8_cache_that_the_writer_filled(torch_dev, attend):
    """Codes times the scale go in and come out: the mean of the values, with equal keys."""
    fp8, scale = torch.float8_e4m3fn, 7.0
    caches = split_kv_cache(torch.full((2, 3, 16 * 32), NAN).to(fp8).to(torch_dev), 1, 32)
    value = (torch.arange(40 * 32, device=torch_dev) % 16).view(40, 1, 32).half() * scale
    slots = torch.arange(16, 56, device=torch_dev) % 48  # blocks 1, 2, 0
    reshape_and_cache(torch.ones_like(value), value, *caches, slots, v_scale=scale)
    table = torch.tensor([[1, 2, 0]], dtype=torch.int32, device=torch_dev)
    seq_lens = torch.tensor([40], dtype=torch.int32, device=torch_dev)

    out = attend(value[:1].sin(), *caches, table, seq_lens, 1.0, v_scale=scale)

    assert torch.allclose(out[0, 0].double(), value.double().mean(0)[0], rtol=2**-9)


def test_strided_query_output_and_caches(inputs_of, attend):
    inputs = inputs_of(Model("", 4, 2, 32), (3, 9), block_size=4)
    query = torch.stack([inputs.query, inputs.query * NAN], 2)[:, :, 0]
    keys = torch.full_like(inputs.key_cache, NAN).repeat(2, 2, 1, 1, 1)[::2, 1:3]
    values = torch.full_like(inputs.value_cache, NAN).repeat(1, 3, 1, 1)[:, ::2][:, :2]
    keys.copy_(inputs.key_cache)
    values.copy_(inputs.value_cache)
    room = torch.full((2, 6, 48), NAN, device=query.device)
    out = room[:, 1:5, 8:40]
    strided = replace(inputs, query=query, key_cache=keys, value_cache=values)

    assert attend(*arguments(strided), out=out) is out
    assert torch.equal(out, attend(*arguments(inputs)))
    assert torch.isnan(room).sum() == room.numel() - out.numel()


def test_beyond_two_to_the_31_elements(torch_dev, attend):
    """Blocks, queries, outputs and table rows 2³⁰ elements apart, untouched in between."""
    far = torch.empty(2**31 + 2**14, dtype=torch.float16, device=torch_dev)
    rows = torch.empty(2**31 + 2**4, dtype=torch.int32, device=torch_dev)
    key_cache = far.as_strided((3, 1, 8, 16, 8), (2**30, 1024, 128, 8, 1))
    value_cache = far.as_strided((3, 1, 64, 16), (2**30, 1024, 16, 1), 1024)
    query, out = (far.as_strided((3, 1, 64), (2**30, 64, 1), 2048 + 64 * n) for n in (0, 1))
    table = rows.as_strided((3, 1), (2**30, 1))
    query[:], key_cache[2, ..., :3, :] = 0, 1
    value_cache[2, ..., :3] = torch.arange(3, device=torch_dev)
    table[:] = torch.tensor([[-1], [-1], [2]], device=torch_dev)
    seq_lens = torch.tensor([0, 0, 3], dtype=torch.int32, device=torch_dev)

    attend(query, key_cache, value_cache, table, seq_lens, 1.0, out=out)

    assert torch.allclose(out[2], torch.ones_like(out[2]), atol=1e-3)  # the mean of 0, 1, 2
    assert out[:2].abs().max() == 0


def test_nothing_to_attend_to(torch_dev, attend):
    caches = split_kv_cache(torch.zeros(2, 1, 4 * 64, device=torch_dev), 1, 64)
    query = torch.ones(2, 1, 64, device=torch_dev)
    table = torch.zeros(2, 0, dtype=torch.int32, device=torch_dev)
    seq_lens = torch.zeros(2, dtype=torch.int32, device=torch_dev)

    assert torch.equal(attend(query, *caches, table, seq_lens, 1.0), torch.zeros_like(query))
    assert attend(query[:0], *caches, table[:0], seq_lens[:0], 1.0).shape == (0, 1, 64)


def test_v1_is_taken_for_one_partition_or_many_programs():
    assert [max_num_partitions(n) for n in (0, 1, 512, 513, 1025)] == [0, 1, 1, 2, 3]
    assert uses_v1(num_seqs=1, num_heads=32, max_seq_len=512)
    assert not uses_v1(num_seqs=16, num_heads=32, max_seq_len=513)
    assert uses_v1(num_seqs=17, num_heads=32, max_seq_len=8192)
    assert not uses_v1(num_seqs=17, num_heads=32, max_seq_len=8193)


@pytest.mark.parametrize(
    ("held", "x"), [(torch.float32, 4), (torch.float16, 8), (torch.float8_e5m2, 16)], ids=str
)
def test_splitting_a_cache_copies_nothing(held, x):
    kv_cache = torch.zeros(2, 5, 4 * 3 * 32, dtype=held)

    key_cache, value_cache = split_kv_cache(kv_cache, num_kv_heads=3, head_size=32)

    assert key_cache.shape == (5, 3, 32 // x, 4, x)
    assert value_cache.shape == (5, 3, 32, 4)
    assert key_cache.data_ptr() == kv_cache[0].data_ptr()
    assert value_cache.data_ptr() == kv_cache[1].data_ptr()


@pytest.mark.parametrize(
    ("name", "shape", "num_kv_heads", "head_size"),
    [
        ("kv_cache", (3, 5, 64), 1, 16),
        ("kv_cache", (2, 5, 4, 16), 1, 16),
        ("kv_cache", (2, 5, 65), 1, 16),
        ("kv_cache", (2, 5, 0), 1, 16),
        ("num_kv_heads", (2, 5, 64), 0, 16),
        ("head_size", (2, 5, 64), 1, 20),
        ("head_size", (2, 5, 64), 1, 0),
    ],
)
def test_a_cache_that_does_not_divide(name, shape, num_kv_heads, head_size):
    with pytest.raises(ValueError, match=f"^{name} "):
        split_kv_cache(torch.zeros(shape, dtype=torch.float16), num_kv_heads, head_size)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("query", lambda a: a.update(query=a["query"][0])),
        ("query", lambda a: a.update(query=a["query"][:, :3])),
        ("query", lambda a: a.update(query=a["query"].mT.contiguous().mT)),
        ("query", lambda a: a.update(query=a["query"].double())),
        ("key_cache", lambda a: a.update(key_cache=a["key_cache"][0])),
        ("key_cache", lambda a: a.update(key_cache=a["key_cache"].half())),
        ("key_cache", lambda a: a.update(key_cache=a["key_cache"].flatten(3, 4)[..., None])),
        ("key_cache", lambda a: a.update(key_cache=a["key_cache"].mT.contiguous().mT)),
        ("key_cache", lambda a: a.update({n: a[n].to("meta") for n in a if "cache" in n})),
        ("key_cache", lambda a: a.update(query=a["query"][..., :16])),
        ("value_cache", lambda a: a.update(key_cache=a["key_cache"][:, :, :4])),
        ("value_cache", lambda a: a.update(value_cache=a["value_cache"][:2])),
        ("value_cache", lambda a: a.update(value_cache=a["value_cache"].half())),
        ("value_cache", lambda a: a.update(value_cache=a["value_cache"].mT.contiguous().mT)),
        ("block_tables", lambda a: a.update(block_tables=a["block_tables"].long())),
        ("block_tables", lambda a: a.update(block_tables=a["block_tables"][:1])),
        ("seq_lens", lambda a: a.update(seq_lens=a["seq_lens"][:1])),
        ("seq_lens", lambda a: a.update(seq_lens=a["seq_lens"].long())),
        ("alibi_slopes", lambda a: a.update(alibi_slopes=torch.ones(3))),
        ("alibi_slopes", lambda a: a.update(alibi_slopes=torch.ones(4).double())),
        ("k_scale", lambda a: a.update(k_scale=2.0)),  # the cache is no fp8
        ("v_scale", lambda a: a.update(v_scale=0.0)),
        ("out", lambda a: a.update(out=a["query"][:1])),
        ("out", lambda a: a.update(out=a["query"].half())),
        ("exp_sums", lambda a: a.update(exp_sums=torch.ones(2, 4, 2))),
        ("max_logits", lambda a: a.update(max_logits=torch.ones(2, 4, 1).double())),
        ("tmp_out", lambda a: a.update(tmp_out=a["query"].new_ones(2, 4, 1, 64)[..., ::2])),
        ("tmp_out", lambda a: a.update(tmp_out=a["query"].new_ones(2, 4, 1, 64)[..., :32])),
    ],
)
def test_a_wrong_argument_is_named(inputs_of, name, change):
    names = ("query", "key_cache", "value_cache", "block_tables", "seq_lens", "scale")
    inputs = inputs_of(Model("", 4, 2, 32), (3, 9), block_size=4)
    wrong = dict(zip(names, arguments(inputs), strict=True))
    change(wrong)

    with pytest.raises(ValueError, match=f"^{name} "):
        paged_attention_v2(
            **{k: v.to(inputs.query.device) if k in NEW else v for k, v in wrong.items()}
        )


NEW = ("alibi_slopes", "exp_sums", "max_logits", "tmp_out")
