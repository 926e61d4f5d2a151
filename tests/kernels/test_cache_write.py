"""The writer: each token into its slot, nothing anywhere else."""

import pytest
import torch

from kernels import reference
from kernels.cache_write import reshape_and_cache_flash

NAN = float("nan")


def tokens(num_tokens, num_kv_heads=2, head_size=8, dtype=torch.float32):
    torch.manual_seed(num_tokens)
    return torch.randn(2, num_tokens, num_kv_heads, head_size).to(dtype)


def poisoned(num_blocks, block_size, num_kv_heads=2, head_size=8, dtype=torch.float32):
    return torch.full((2, num_blocks, block_size, num_kv_heads, head_size), NAN, dtype=dtype)


def test_tokens_lie_where_the_lesson_puts_them(torch_dev):
    key, value = tokens(6).to(torch_dev)
    key_cache, value_cache = poisoned(5, 4).to(torch_dev)
    slots = torch.tensor([12, 13, 14, 15, 4, 5], device=torch_dev)

    reshape_and_cache_flash(key, value, key_cache, value_cache, slots)

    assert torch.equal(key_cache[3], key[:4])
    assert torch.equal(value_cache[1, :2], value[4:])
    untouched = torch.isnan(key_cache).all(-1).all(-1)  # [block, slot]
    assert untouched.sum() == 5 * 4 - 6
    assert torch.equal(torch.isnan(value_cache), torch.isnan(key_cache))


@pytest.mark.parametrize("block_size", [1, 3, 4, 16])
def test_equals_the_reference_for_scattered_slots(torch_dev, block_size, dtype):
    dtype = getattr(torch, dtype)
    key, value = tokens(130, head_size=20, dtype=dtype).to(
        torch_dev
    )  # three programs, a padded head
    slots = torch.randperm(140)[:130].to(torch_dev)
    slots[::7] = -1
    ours = poisoned(-(-140 // block_size), block_size, head_size=20, dtype=dtype).to(torch_dev)
    theirs = ours.clone()

    reshape_and_cache_flash(key, value, *ours, slots)
    reference.reshape_and_cache_flash(key, value, *theirs, slots)

    assert torch.equal(ours.nan_to_num(99.0), theirs.nan_to_num(99.0))


def test_negative_slots_are_skipped(torch_dev):
    key, value = tokens(3).to(torch_dev)
    caches = poisoned(2, 4).to(torch_dev)

    reshape_and_cache_flash(key, value, *caches, torch.tensor([-1, 5, -7], device=torch_dev))

    written = ~torch.isnan(caches).any(-1).any(-1)  # [cache, block, slot]
    assert written.nonzero().tolist() == [[0, 1, 1], [1, 1, 1]]


def test_the_slot_mapping_says_how_many_tokens_there_are(torch_dev):
    key, value = tokens(8).to(torch_dev)
    caches = poisoned(2, 4).to(torch_dev)

    reshape_and_cache_flash(key, value, *caches, torch.tensor([0, 1], device=torch_dev))

    assert torch.equal(caches[0, 0, :2], key[:2])
    assert torch.isnan(caches[:, 0, 2:]).all()


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


def test_slots_beyond_two_to_the_31_elements(torch_dev):
    num_blocks = 2**31 // (16 * 64) + 8
    cache = torch.empty(
        num_blocks, 16, 1, 64, dtype=torch.float16, device=torch_dev
    )  # never touched
    key, value = tokens(1, 1, 64, torch.float16).to(torch_dev)
    slots = torch.tensor([(num_blocks - 1) * 16 + 3], device=torch_dev)

    reshape_and_cache_flash(key, value, cache, cache, slots)

    assert torch.equal(cache[-1, 3], value[0])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("key", lambda a: a.update(key=a["key"][:, :1])),
        ("key", lambda a: a.update(key=a["key"].double())),
        ("value", lambda a: a.update(value=a["value"][:1])),
        (
            "value",
            lambda a: a.update(value=a["value"].transpose(1, 2).contiguous().transpose(1, 2)),
        ),
        ("key_cache", lambda a: a.update(key_cache=a["key_cache"][0])),
        ("key_cache", lambda a: a.update(key_cache=a["key_cache"].int())),
        ("value_cache", lambda a: a.update(value_cache=a["value_cache"][:1])),
        ("slot_mapping", lambda a: a.update(slot_mapping=a["slot_mapping"].int())),
        ("slot_mapping", lambda a: a.update(slot_mapping=a["slot_mapping"].repeat(2))),
        ("slot_mapping", lambda a: a.update(slot_mapping=a["slot_mapping"].to("meta"))),
    ],
)
def test_a_wrong_argument_is_named(torch_dev, name, change):
    key, value = tokens(3).to(torch_dev)
    key_cache, value_cache = poisoned(2, 4).to(torch_dev)
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
        reshape_and_cache_flash(**arguments)
