"""The paged decode kernel at the edges of memory: layouts, gaps, huge strides, wrong ids, order."""

from dataclasses import replace

import pytest
import torch

from kernels.decode import paged_attention, plan_decode
from kernels.flight import make_flight
from tests.kernels.problem import (
    PADDING,
    make_problem,
    split,
    tiled,
    two_tensors,
    write,
)

HUGE = 2**30 + 64  # elements: twice that is past what int32 counts
THREE = (20, 3, 40)


# Layouts, each [num_blocks, block_size, num_kv_heads, head_size] for a key and a value cache.


def heads_first(num_blocks, block_size, num_kv_heads, head_size, **options):
    caches = two_tensors(num_blocks, num_kv_heads, block_size, head_size, **options)
    return tuple(cache.transpose(1, 2) for cache in caches)


def packed(num_blocks, block_size, num_kv_heads, head_size, **options):
    """vLLM 0.26: keys and values side by side in the last dimension."""
    pool = torch.empty(num_blocks, block_size, num_kv_heads, 2 * head_size, **options)
    return pool.split(head_size, -1)


def packed_heads_first(num_blocks, block_size, num_kv_heads, head_size, **options):
    pool = torch.empty(num_blocks, num_kv_heads, block_size, 2 * head_size, **options)
    return pool.transpose(1, 2).split(head_size, -1)


def pair_in_each_block(num_blocks, *sizes, **options):
    """FlashInfer: [num_blocks, 2, …], so a block's stride is twice its size: aiter#3498."""
    return torch.empty(num_blocks, 2, *sizes, **options).unbind(1)


def one_of_three_layers(num_blocks, *sizes, **options):
    """A pool across layers: the other layers lie between two blocks of this one."""
    return torch.empty(num_blocks, 3, 2, *sizes, **options)[:, 1].unbind(1)


def with_an_offset(num_blocks, *sizes, **options):
    key, value = two_tensors(num_blocks + 1, *sizes, **options)
    return key[1:], value[1:]


def unlike_each_other(num_blocks, block_size, num_kv_heads, head_size, **options):
    key = torch.empty(num_blocks, block_size + 1, num_kv_heads, head_size, **options)
    value = torch.empty(num_blocks, block_size, num_kv_heads + 2, head_size + 6, **options)
    return key[:, :block_size], value[:, :, 1:-1, :head_size]


LAYOUTS = [
    heads_first,
    packed,
    packed_heads_first,
    pair_in_each_block,
    one_of_three_layers,
    with_an_offset,
    unlike_each_other,
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_every_layout(torch_dev, layout):
    problem = make_problem(torch_dev, (3, 20), (4, 2), block_size=4, pool=layout)

    assert problem.key_cache.storage_offset() or not problem.key_cache.is_contiguous()
    assert problem.worst(plan=split(problem, 1)) <= 1


@pytest.mark.parametrize("num_splits", [1, 2])
def test_strided_query_and_output(torch_dev, num_splits):
    """Beside the output nothing is written: its neighbours stay NaN."""
    problem = make_problem(torch_dev, (0, 9, 20), (3, 1), 20)
    wide = torch.full((2, 3, 5, 32), torch.nan, device=torch_dev)
    query, out = wide[0, :, 1:4, 6:26], wide[1, :, 1:4, :20]
    query.copy_(problem.query)
    strided = replace(problem, query=query)

    assert strided.attend(out=out, plan=split(problem, num_splits))[0] is out
    assert strided.worst(out=out, plan=split(problem, num_splits)) <= 1
    assert torch.isnan(wide).sum() == wide.numel() - 2 * out.numel()


def test_lse_and_out_may_be_left_out(torch_dev):
    problem = make_problem(torch_dev, THREE)
    for plan in (split(problem, 1), split(problem, 2)):
        out, _ = problem.attend(plan=plan)
        assert torch.equal(problem.attend(plan=plan, out=None, lse=None)[0], out)


@pytest.mark.parametrize("padding", [*PADDING, 3])
def test_padding_of_the_table_is_never_followed(torch_dev, padding):
    """Ids far outside the pool, of a NaN block, of another sequence's living block."""
    problem = make_problem(torch_dev, (1, 4, 5, 0, 40), (1, 1), block_size=4)
    expected, _ = problem.attend(plan=split(problem, 2))
    needed = torch.arange(problem.block_tables.shape[1]) < torch.tensor([[1], [1], [2], [0], [10]])
    tables = torch.where(needed.to(torch_dev), problem.block_tables, padding)

    out, _ = problem.attend(plan=split(problem, 2), block_tables=tables)

    assert torch.equal(out, expected)


def test_a_table_that_ends_with_the_sequence(torch_dev):
    """Its rows lie apart, and between them are ids that lead nowhere."""
    problem = make_problem(torch_dev, (5, 8, 33), (1, 1), block_size=4)
    wide = torch.full((3, 40), 2**31 - 1, dtype=torch.int32, device=torch_dev)
    table = wide[:, 2:11]
    table.copy_(problem.block_tables[:, :9])

    assert problem.worst(block_tables=table, plan=split(problem, 2)) <= 1


def test_sequences_may_share_blocks(torch_dev):
    problem = make_problem(torch_dev, (40, 40), (2, 1), block_size=4)
    shared = replace(
        problem,
        block_tables=problem.block_tables[:1].repeat(2, 1),
        keys=problem.keys[:1] * 2,
        values=problem.values[:1] * 2,
    )

    assert shared.worst(plan=split(problem, 2)) <= 1


@pytest.fixture(scope="module")
def sparse(torch_dev):
    """2³¹ and some float16 numbers that nobody touches: virtual memory on the CPU."""
    return torch.empty(2**31 + 2**16, dtype=torch.float16, device=torch_dev)


def spread(sparse, tensor, dim):
    """The tensor, copied into memory so sparse that neighbours in `dim` are HUGE apart."""
    strides = [*torch.empty(tensor.shape, device="meta").stride()]
    strides[dim] = HUGE
    view = sparse.view(tensor.dtype).as_strided(tensor.shape, strides)
    return view.copy_(tensor)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("far", [("key_cache",), ("value_cache",), ("key_cache", "value_cache")])
def test_caches_of_more_elements_than_int32_counts(torch_dev, sparse, far, dim):
    """High block ids, slots far apart, KV heads far apart: vllm#47671, #50427, #50483."""
    problem = make_problem(torch_dev, (3,), (3, 3), block_size=3, dtype=torch.float16)
    problem = replace(problem, keys=problem.values)
    cache = torch.full_like(problem.key_cache[:3], torch.nan)
    write(cache, torch.tensor([2]), problem.values[0].half())
    place = {"key_cache": cache, "value_cache": cache} | dict.fromkeys(
        far, spread(sparse, cache, dim)
    )
    tables = torch.full_like(problem.block_tables, 2)

    assert problem.worst(**place, block_tables=tables, plan=split(problem, 1)) <= 1


@pytest.mark.parametrize("num_splits", [1, 2])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("name", ["query", "out"])
def test_query_and_output_of_huge_strides(torch_dev, sparse, name, dim, num_splits):
    """sglang#20389: tokens times heads times head size past what int32 counts."""
    problem = make_problem(torch_dev, (3, 2, 20), (3, 1), dtype=torch.float16)
    far = spread(sparse, problem.query, dim)

    assert problem.worst(**{name: far}, plan=split(problem, num_splits)) <= 1


def test_a_table_of_huge_stride(torch_dev):
    problem = make_problem(torch_dev, (3, 2, 20), (1, 1))
    memory = torch.empty(2**31 + 2**16, dtype=torch.int32, device=torch_dev)

    assert problem.worst(block_tables=spread(memory, problem.block_tables, 0)) <= 1


@pytest.mark.parametrize("num_splits", [1, 3])
def test_moving_blocks_changes_no_bit(torch_dev, num_splits):
    problem = make_problem(torch_dev, THREE, block_size=4)
    places = torch.randperm(len(problem.key_cache), generator=torch.Generator().manual_seed(5))
    tables = problem.block_tables.long().cpu()
    outside = (tables < 0) | (tables >= len(places))
    moved = torch.where(outside, tables, places[tables.where(~outside, 0)])
    caches = {
        name: torch.empty_like(cache).index_copy_(0, places.to(torch_dev), cache)
        for name, cache in (("key_cache", problem.key_cache), ("value_cache", problem.value_cache))
    }
    changes = {"plan": split(problem, num_splits), "block_tables": moved.int().to(torch_dev)}

    for ours, theirs in zip(
        problem.attend(**caches, **changes), problem.attend(plan=changes["plan"]), strict=True
    ):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("num_splits", [1, 3])
def test_sequences_do_not_depend_on_their_order(torch_dev, num_splits):
    problem = make_problem(torch_dev, (20, 0, 3, 40), block_size=4)
    order = torch.tensor([2, 3, 0, 1], device=torch_dev)
    turned = {name: getattr(problem, name)[order] for name in ("query", "block_tables", "seq_lens")}
    plan = split(problem, num_splits)
    out, lse = problem.attend(plan=plan)
    turned_out, turned_lse = problem.attend(**turned, plan=plan)

    assert torch.equal(turned_out, out[order])
    assert torch.equal(turned_lse, lse[order])


def test_the_same_plan_gives_the_same_bits(torch_dev, device):
    problem = make_problem(torch_dev, (33, 0, 90))
    plan = plan_decode(problem.query, problem.key_cache, problem.seq_lens, config=tiled(16))
    first, _ = problem.attend(plan=plan)

    for _ in range(2000 if device.kind == "gpu" else 2):
        assert torch.equal(problem.attend(plan=plan)[0], first)


def test_inputs_are_left_as_they_were(torch_dev):
    problem = make_problem(torch_dev, THREE)
    tensors = [getattr(problem, name) for name in ("query", "key_cache", "value_cache")]
    tensors += [problem.block_tables, problem.seq_lens]
    before = [tensor.clone() for tensor in tensors]

    problem.attend(plan=split(problem, 2))

    for tensor, old in zip(tensors, before, strict=True):
        assert torch.equal(tensor.nan_to_num(7), old.nan_to_num(7))


FLOAT8 = torch.float8_e4m3fn


def float8(arguments, **changes):
    """The same caches in float8, perhaps changed."""
    caches = {name: arguments[name].to(FLOAT8) for name in ("key_cache", "value_cache")}
    arguments.update(caches)
    arguments.update({name: change(arguments[name]) for name, change in changes.items()})


def odd_strides(cache):
    wide = torch.zeros(*cache.shape[:3], cache.shape[3] + 1, device=cache.device)
    return wide.to(FLOAT8)[..., :-1]


def odd_offset(cache):
    wide = torch.zeros(*cache.shape[:3], cache.shape[3] + 2, device=cache.device)
    return wide.to(FLOAT8)[..., 1:-1]


def too_many(arguments):
    """More sequences than a grid holds."""
    num_seqs, device = 70_000, arguments["query"].device
    ints = {"dtype": torch.int32, "device": device}
    arguments["query"] = arguments["query"][:1].expand(num_seqs, -1, -1)
    arguments["block_tables"] = torch.zeros(num_seqs, 1, **ints)
    arguments["seq_lens"] = torch.zeros(num_seqs, **ints)


WRONG = [
    ("query", lambda a: a.update(query=a["query"][0])),
    # 3 and 33 heads over 2: fla-org/flash-linear-attention#1029
    ("query", lambda a: a.update(query=a["query"][:, :3])),
    ("query", lambda a: a.update(query=a["query"][:, :1].expand(-1, 33, -1).contiguous())),
    ("query", lambda a: a.update(query=a["query"].mT.contiguous().mT)),
    ("query", too_many),
    ("key_cache", lambda a: a.update(key_cache=a["key_cache"][0])),
    ("key_cache", lambda a: a.update(key_cache=a["key_cache"].half())),
    ("key_cache", lambda a: a.update(key_cache=a["key_cache"].to(torch.float8_e4m3fnuz))),
    ("key_cache", lambda a: a.update(key_cache=a["key_cache"][..., :32])),
    ("key_cache", lambda a: a.update(key_cache=a["key_cache"].to("meta"))),
    ("key_cache", lambda a: a.update(key_cache=a["key_cache"][:, :0])),
    ("key_cache", lambda a: a.update(key_cache=a["key_cache"][:, :, :0])),
    ("key_cache", lambda a: a.update({n: a[n].double() for n in a if n[:2] in ("qu", "ke")})),
    ("key_cache", lambda a: float8(a, key_cache=odd_strides)),
    ("key_cache", lambda a: float8(a, key_cache=odd_offset)),
    ("key_cache", lambda a: float8(a, query=lambda x: x.to(FLOAT8))),
    ("value_cache", lambda a: a.update(value_cache=a["value_cache"][:2])),
    ("value_cache", lambda a: a.update(value_cache=a["value_cache"].half())),
    ("value_cache", lambda a: float8(a, value_cache=lambda x: x.to(torch.float8_e5m2))),
    ("value_cache", lambda a: float8(a, value_cache=lambda x: x.float())),
    ("value_cache", lambda a: float8(a, value_cache=odd_strides)),
    ("value_cache", lambda a: a.update(value_cache=a["value_cache"].mT.contiguous().mT)),
    ("block_tables", lambda a: a.update(block_tables=a["block_tables"].long())),
    ("block_tables", lambda a: a.update(block_tables=a["block_tables"][:1])),
    ("block_tables", lambda a: a.update(block_tables=a["block_tables"][0])),
    ("block_tables", lambda a: a.update(block_tables=a["block_tables"].mT.contiguous().mT)),
    ("seq_lens", lambda a: a.update(seq_lens=a["seq_lens"][:1])),
    ("seq_lens", lambda a: a.update(seq_lens=a["seq_lens"].long())),
    ("seq_lens", lambda a: a.update(seq_lens=a["seq_lens"][:, None])),
    ("seq_lens", lambda a: a.update(seq_lens=a["seq_lens"].to("meta"))),
    ("out", lambda a: a.update(out=a["query"][:1])),
    ("out", lambda a: a.update(out=a["query"].half())),
    ("out", lambda a: a.update(out=a["query"].to("meta"))),
    ("lse", lambda a: a.update(lse=a["query"])),
    ("lse", lambda a: a.update(lse=a["query"][:, :2, 0])),
    ("lse", lambda a: a.update(lse=a["query"][:, :, :1].contiguous()[..., 0].half())),
    ("lse", lambda a: a.update(lse=torch.zeros(4, 2, device=a["query"].device).mT)),
    ("lse", lambda a: a.update(lse=a["query"][:, :, 0].to("meta"))),
    ("k_scale", lambda a: a.update(k_scale=torch.ones(2))),
    ("k_scale", lambda a: a.update(k_scale=torch.ones(1).double())),
    ("k_scale", lambda a: a.update(k_scale=torch.ones(1, device="meta"))),
    ("v_scale", lambda a: a.update(v_scale=torch.ones(4))),
    ("v_scale", lambda a: a.update(v_scale=torch.ones(1).half())),
    ("sliding_window", lambda a: a.update(sliding_window=0)),
    ("sliding_window", lambda a: a.update(sliding_window=-4)),
    ("soft_cap", lambda a: a.update(soft_cap=0.0)),
    ("soft_cap", lambda a: a.update(soft_cap=-30.0)),
    ("alibi_slopes", lambda a: a.update(alibi_slopes=torch.ones(2))),
    ("alibi_slopes", lambda a: a.update(alibi_slopes=torch.ones(4).half())),
    ("alibi_slopes", lambda a: a.update(alibi_slopes=torch.ones(4, device="meta"))),
]


@pytest.mark.parametrize(("name", "change"), WRONG)
def test_a_wrong_argument_is_named(torch_dev, name, change):
    arguments = make_problem(torch_dev, (3, 9), (4, 2), 64, block_size=4).arguments
    change(arguments)

    with pytest.raises(ValueError, match=f"^{name} "):
        paged_attention(**arguments)


def made_for(torch_dev, seq_lens, heads, max_seq_len=64):
    """A plan, and a flight of it, that another call has no use for."""
    other = make_problem(torch_dev, seq_lens, heads, 64)
    plan = plan_decode(other.query, other.key_cache, other.seq_lens)
    return plan, make_flight(other.query, other.key_cache, plan, max_seq_len)


@pytest.mark.parametrize(("seq_lens", "heads"), [((3, 9, 4), (4, 2)), ((3, 9), (8, 2))])
def test_a_plan_of_other_shapes_is_refused(torch_dev, seq_lens, heads):
    problem = make_problem(torch_dev, (3, 9), (4, 2), 64)
    plan, _ = made_for(torch_dev, seq_lens, heads)

    with pytest.raises(ValueError, match=r"^plan "):
        problem.attend(plan=plan)
    with pytest.raises(ValueError, match=r"^plan "):
        problem.attend(plan=split(make_problem(torch_dev, seq_lens, heads, 64), 2))


def test_a_plan_for_other_kv_heads_is_refused(torch_dev):
    problem = make_problem(torch_dev, (3, 9), (4, 2), 64)
    plan, _ = made_for(torch_dev, (3, 9), (4, 4))

    with pytest.raises(ValueError, match=r"^plan "):
        problem.attend(plan=plan)


def test_a_flight_with_room_for_another_plan_is_refused(torch_dev):
    problem = make_problem(torch_dev, (3, 9), (4, 2), 64)
    plan, _ = made_for(torch_dev, (3, 9), (4, 2))
    other = replace(plan, num_items=plan.num_items + 1)
    flight = make_flight(problem.query, problem.key_cache, other, 64)

    with pytest.raises(ValueError, match=r"^flight "):
        problem.attend(plan=plan, flight=flight)
