"""The writers: each token into its slot, nothing anywhere else; in rows, and in the classic layout.

Caches of either layout are looked at as [num_blocks, block_size, num_kv_heads, head_size].
"""

import pytest
import torch

from kernels import cache_write, reference
from kernels.cache_layout import split_kv_cache
from kernels.cache_write import reshape_and_cache, reshape_and_cache_flash

NAN = float("nan")
FP8 = (torch.float8_e4m3fn, torch.float8_e5m2)


class Rows:
    write = staticmethod(reshape_and_cache_flash)

    @staticmethod
    def caches(num_blocks, block_size, num_kv_heads, head_size, dtype):
        shape = (num_blocks, block_size, num_kv_heads, head_size)
        return [torch.full(shape, NAN).to(dtype) for _ in range(2)]

    @staticmethod
    def look(key_cache, value_cache):
        return torch.stack([key_cache, value_cache])


class Chunks:
    write = staticmethod(reshape_and_cache)

    @staticmethod
    def caches(num_blocks, block_size, num_kv_heads, head_size, dtype):
        kv_cache = torch.full((2, num_blocks, block_size * num_kv_heads * head_size), NAN)
        return split_kv_cache(kv_cache.to(dtype), num_kv_heads, head_size)

    @staticmethod
    def look(key_cache, value_cache):
        chunks = key_cache.permute(0, 3, 1, 2, 4)
        return torch.stack([chunks.flatten(3), value_cache.permute(0, 3, 1, 2)])


@pytest.fixture(params=[Rows, Chunks])
def layout(request):
    return request.param


def tokens(num_tokens, num_kv_heads=2, head_size=8, dtype=torch.float32):
    torch.manual_seed(num_tokens)
    return torch.randn(2, num_tokens, num_kv_heads, head_size).to(dtype)


def poisoned(layout, torch_dev, num_blocks, block_size, head_size=8, dtype=torch.float32):
    """Caches of NaN for 2 KV heads."""
    caches = layout.caches(num_blocks, block_size, 2, head_size, dtype)
    return [cache.to(torch_dev) for cache in caches]


def test_tokens_lie_where_the_lesson_puts_them(torch_dev, layout):
    key, value = tokens(6).to(torch_dev)
    caches = poisoned(layout, torch_dev, 5, 4)

    layout.write(key, value, *caches, torch.tensor([12, 13, 14, 15, 4, 5], device=torch_dev))

    key_cache, value_cache = layout.look(*caches)
    assert torch.equal(key_cache[3], key[:4])
    assert torch.equal(value_cache[1, :2], value[4:])
    untouched = torch.isnan(key_cache).all(-1).all(-1)  # [block, slot]
    assert untouched.sum() == 5 * 4 - 6
    assert torch.equal(torch.isnan(value_cache), torch.isnan(key_cache))


def test_chunks_of_16_bytes_stand_side_by_side(torch_dev):
    key = torch.arange(16, dtype=torch.float16, device=torch_dev).view(1, 1, 16)
    kv_cache = torch.zeros(2, 1, 4 * 16, dtype=torch.float16, device=torch_dev)

    reshape_and_cache(
        key, key, *split_kv_cache(kv_cache, 1, 16), torch.tensor([2], device=torch_dev)
    )

    assert kv_cache[0, 0].nonzero().flatten().tolist() == [*range(17, 24), *range(48, 56)]
    assert kv_cache[1, 0].nonzero().flatten().tolist() == list(range(6, 64, 4))


@pytest.mark.parametrize("block_size", [1, 3, 4, 16])
def test_equals_the_reference_for_scattered_slots(
    torch_dev, layout, block_size, dtype, monkeypatch
):
    monkeypatch.setattr(cache_write, "TOKENS", 64)  # three programs a head
    dtype = getattr(torch, dtype)
    key, value = tokens(130, head_size=24, dtype=dtype).to(torch_dev)  # a padded head
    slots = torch.randperm(140)[:130].to(torch_dev)
    slots[::7] = -1
    ours = poisoned(layout, torch_dev, -(-140 // block_size), block_size, 24, dtype)
    theirs = layout.look(*ours).clone()

    layout.write(key, value, *ours, slots)
    reference.reshape_and_cache_flash(key, value, *theirs, slots)

    assert torch.equal(layout.look(*ours).nan_to_num(99.0), theirs.nan_to_num(99.0))


def test_a_negative_slot_leaves_every_byte_as_it_is(torch_dev, layout):
    key, value = tokens(3).to(torch_dev)
    caches = poisoned(layout, torch_dev, 2, 4)
    for cache in caches:
        cache.view(torch.int32).copy_(torch.randint(2**31 - 1, cache.shape))
    before = layout.look(*caches).clone()

    layout.write(key, value, *caches, torch.tensor([-1, 5, -(2**40)], device=torch_dev))

    after = layout.look(*caches)
    assert torch.equal(after[:, 1, 1], torch.stack([key[1], value[1]]))
    after[:, 1, 1] = before[:, 1, 1]
    assert torch.equal(after.view(torch.int32), before.view(torch.int32))


def test_the_slot_mapping_says_how_many_tokens_there_are(torch_dev, layout):
    key, value = tokens(8).to(torch_dev)
    caches = poisoned(layout, torch_dev, 2, 4)

    layout.write(key, value, *caches, torch.tensor([0, 1], device=torch_dev))

    key_cache, value_cache = layout.look(*caches)
    assert torch.equal(key_cache[0, :2], key[:2])
    assert torch.isnan(key_cache[0, 2:]).all()
    assert torch.isnan(value_cache[1]).all()


def test_no_tokens_is_no_work(torch_dev, layout):
    key, value = tokens(2).to(torch_dev)
    caches = poisoned(layout, torch_dev, 2, 4)

    layout.write(key, value, *caches, torch.zeros(0, dtype=torch.int64, device=torch_dev))

    assert torch.isnan(layout.look(*caches)).all()


def test_strided_tokens_and_packed_caches(torch_dev):
    packed_tokens = torch.randn(5, 2, 16, device=torch_dev)  # K and V side by side in a projection
    packed_cache = torch.full((3, 2, 4, 16), NAN, device=torch_dev)  # vLLM 0.26's, heads first
    key, value = packed_tokens.split(8, -1)
    value = value.contiguous()  # strides unlike the key's
    key_cache, value_cache = packed_cache.transpose(1, 2).split(8, -1)

    slots = torch.tensor([11, 0, 4, 5, 6], device=torch_dev)
    reshape_and_cache_flash(key, value, key_cache, value_cache, slots)

    assert torch.equal(packed_cache[2, :, 3], packed_tokens[0])
    assert torch.equal(packed_cache[1, :, :3].transpose(0, 1), packed_tokens[2:])


def test_key_and_value_caches_with_strides_of_their_own(torch_dev):
    key, value = tokens(5).to(torch_dev)
    room = torch.full((3, 5, 4, 24), NAN, device=torch_dev)
    key_cache, value_cache = room[:, :4, 1:3, 8:16], torch.full_like(room[:, :4, :2, :8], NAN)

    slots = torch.tensor([11, 0, 4, 5, 6], device=torch_dev)
    reshape_and_cache_flash(key, value, key_cache, value_cache, slots)

    assert torch.equal(key_cache[1, :3], key[2:])
    assert torch.equal(value_cache[2, 3], value[0])
    assert torch.isnan(room).sum() == room.numel() - key.numel()


def test_gaps_between_blocks_and_heads_of_the_classic_layout(torch_dev):
    key = torch.randn(5, 8, 2, device=torch_dev).mT.contiguous()
    value = torch.randn(5, 2, 24, device=torch_dev)[..., :8]
    keys = torch.full((3, 3, 2, 4, 4), NAN, device=torch_dev)
    values = torch.full((6, 2, 8, 4), NAN, device=torch_dev)
    caches = keys[:, 1:], values[::2]

    reshape_and_cache(key, value, *caches, torch.tensor([11, 0, 4, 5, 6], device=torch_dev))

    key_cache, value_cache = Chunks.look(*caches)
    assert torch.equal(key_cache[1, :3], key[2:])
    assert torch.equal(value_cache[2, 3], value[0])
    assert torch.isnan(keys).sum() == keys.numel() - key.numel()
    assert torch.isnan(values).sum() == values.numel() - value.numel()


def test_beyond_two_to_the_31_elements(torch_dev, layout):
    """Blocks and tokens 2³⁰ elements apart, in memory that is never touched in between."""
    far = torch.empty(2**31 + 2**14, dtype=torch.float16, device=torch_dev)
    key, value = (far.as_strided((3, 1, 64), (2**30, 64, 1), offset) for offset in (0, 64))
    key[2], value[2] = tokens(1, 1, 64, torch.float16).to(torch_dev)[:, 0]
    shape = ((3, 16, 1, 64),) * 2 if layout is Rows else ((3, 1, 8, 16, 8), (3, 1, 64, 16))
    caches = [
        far.as_strided(size, (2**30, *torch.empty(size[1:], device="meta").stride()), 2**11 * n)
        for n, size in enumerate(shape, start=1)
    ]

    layout.write(key, value, *caches, torch.tensor([-1, -1, 2 * 16 + 3], device=torch_dev))

    key_cache, value_cache = (layout.look(*(cache[2:] for cache in caches)))[:, 0, 3]
    assert torch.equal(key_cache, key[2])
    assert torch.equal(value_cache, value[2])


@pytest.mark.parametrize("fp8", FP8, ids=str)
@pytest.mark.parametrize("scale", [0.5, 2.0, 7.0])
def test_fp8_holds_what_was_divided_by_the_scale(torch_dev, layout, fp8, scale):
    """All finite codes times the scale: what the cache can hold exactly, it holds exactly."""
    codes = torch.arange(256, dtype=torch.uint8).view(fp8)
    codes = codes[codes.float().isfinite()][:240].to(torch_dev).view(5, 2, 24)
    caches = poisoned(layout, torch_dev, 3, 4, 48, fp8)
    key = torch.cat([codes.float(), codes.float().flip(0)], -1)

    slots = torch.tensor([11, 0, 4, 5, 6], device=torch_dev)
    layout.write(key * scale, key * 4.0, *caches, slots, k_scale=scale, v_scale=4.0)

    for cache in layout.look(*caches):
        stored = cache.view(-1, 2, 48)[slots]
        assert torch.equal(stored[..., :24].view(torch.uint8), codes.view(torch.uint8))
        assert torch.equal(stored.float(), key)


@pytest.mark.parametrize("fp8", FP8, ids=str)
def test_fp8_is_cut_to_what_it_can_hold(torch_dev, device, layout, fp8):
    limit = torch.finfo(fp8).max
    caches = poisoned(layout, torch_dev, 1, 1, 16, fp8)
    beyond = [limit, limit * 1.5, 1e9, float("inf"), -limit, -limit * 1.5, -1e9, -float("inf")]
    key = torch.tensor([*beyond, *[1.0] * 8] * 2, device=torch_dev).view(1, 2, 16)

    layout.write(key, key, *caches, torch.zeros(1, dtype=torch.int64, device=torch_dev))

    expected = key.clamp(-limit, limit)[None].expand(2, 1, 2, 16)
    assert torch.equal(layout.look(*caches).float()[:, 0], expected)
    if device.kind == "gpu":  # the interpreter's own rounding is off by more than one code
        key = torch.randn(1, 2, 16, device=torch_dev) * 10
        layout.write(key, key, *caches, torch.zeros(1, dtype=torch.int64, device=torch_dev))
        assert torch.equal(layout.look(*caches)[0, 0].float(), key.to(fp8).float())


def test_nan_stays_nan_in_fp8(torch_dev, device, layout):
    for fp8 in FP8 if device.kind == "gpu" else FP8[1:]:  # interpreted, e4m3 has no NaN
        caches = poisoned(layout, torch_dev, 1, 1, 16, fp8)
        key = torch.tensor([NAN, 1.0] * 16, device=torch_dev).view(1, 2, 16)

        layout.write(key, key, *caches, torch.zeros(1, dtype=torch.int64, device=torch_dev))

        assert torch.equal(torch.isnan(layout.look(*caches)[:, 0, 0].float()[0]), key[0].isnan())


def test_bfloat16_is_copied_bit_for_bit(torch_dev, layout):
    key, value = tokens(5, dtype=torch.bfloat16).to(torch_dev)
    caches = poisoned(layout, torch_dev, 2, 4, dtype=torch.bfloat16)

    layout.write(key, value, *caches, torch.arange(5, device=torch_dev))

    assert torch.equal(layout.look(*caches).flatten(1, 2)[:, :5], torch.stack([key, value]))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("key", lambda a: a.update(key=a["key"][:, :1])),
        ("key", lambda a: a.update(key=a["key"].double())),
        ("value", lambda a: a.update(value=a["value"][:1])),
        ("value", lambda a: a.update(value=a["value"].half())),
        (
            "value",
            lambda a: a.update(value=a["value"].transpose(1, 2).contiguous().transpose(1, 2)),
        ),
        ("key_cache", lambda a: a.update(key_cache=a["key_cache"][0])),
        ("key_cache", lambda a: a.update(key_cache=a["key_cache"].int())),
        ("key_cache", lambda a: a.update(key_cache=a["key_cache"][..., :0])),
        ("value_cache", lambda a: a.update(value_cache=a["value_cache"][:1])),
        ("value_cache", lambda a: a.update(value_cache=a["value_cache"].half())),
        ("slot_mapping", lambda a: a.update(slot_mapping=a["slot_mapping"].int())),
        ("slot_mapping", lambda a: a.update(slot_mapping=a["slot_mapping"].repeat(2))),
        ("slot_mapping", lambda a: a.update(slot_mapping=a["slot_mapping"].to("meta"))),
        ("k_scale", lambda a: a.update(k_scale=2.0)),  # the cache is no fp8
        ("v_scale", lambda a: a.update(v_scale=0.0)),
        ("v_scale", lambda a: a.update(v_scale=NAN)),
    ],
)
def test_a_wrong_argument_is_named(torch_dev, layout, name, change):
    key, value = tokens(3).to(torch_dev)
    key_cache, value_cache = poisoned(layout, torch_dev, 2, 4)
    slot_mapping = torch.arange(3, device=torch_dev)
    arguments = {
        "key": key,
        "value": value,
        "key_cache": key_cache,
        "value_cache": value_cache,
        "slot_mapping": slot_mapping,
    }
    change(arguments)

    with pytest.raises(ValueError, match=f"^{name} "):
        layout.write(**arguments)


def test_the_classic_layout_is_contiguous_within_a_block(torch_dev):
    key, value = tokens(3).to(torch_dev)
    key_cache, value_cache = poisoned(Chunks, torch_dev, 2, 4)
    slots = torch.arange(3, device=torch_dev)

    with pytest.raises(ValueError, match=r"^value_cache must be contiguous within"):
        reshape_and_cache(key, value, key_cache, torch.cat([value_cache] * 2, 3)[..., :4], slots)
