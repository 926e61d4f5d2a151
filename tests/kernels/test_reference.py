"""The specification against numbers from elsewhere: the lesson's, and torch's own attention."""

import torch
from torch.nn.functional import scaled_dot_product_attention

from kernels.presets import LESSON_KEY, LESSON_QUERY, LESSON_VALUE
from kernels.reference import dense_attention, paged_attention, reshape_and_cache_flash


def test_the_lesson_s_printed_result():
    query = torch.tensor([LESSON_QUERY], dtype=torch.float64)
    key = torch.tensor(LESSON_KEY, dtype=torch.float64)[:, None]
    value = torch.tensor(LESSON_VALUE, dtype=torch.float64)[:, None]

    out = dense_attention(query, key, value, 4**-0.5)

    assert [round(x, 6) for x in out[0].tolist()] == [0.363083, 0.449897, 0.392487, 0.386499]


def test_dense_equals_torch_s_grouped_attention():
    torch.manual_seed(0)
    query = torch.randn(6, 16, dtype=torch.float64)
    key, value = torch.randn(2, 9, 2, 16, dtype=torch.float64)

    expected = scaled_dot_product_attention(
        query[:, None], key.transpose(0, 1), value.transpose(0, 1), scale=0.3, enable_gqa=True
    )

    assert torch.allclose(dense_attention(query, key, value, 0.3), expected[:, 0], atol=1e-14)


def test_paged_equals_dense_through_a_scattered_table():
    torch.manual_seed(0)
    query = torch.randn(1, 2, 8, dtype=torch.float64)
    key, value = torch.randn(2, 6, 1, 8, dtype=torch.float64)
    caches = torch.full((2, 5, 4, 1, 8), float("nan"), dtype=torch.float64)
    slots = torch.tensor([12, 13, 14, 15, 4, 5])
    reshape_and_cache_flash(key, value, *caches, slots)

    table, seq_lens = torch.tensor([[3, 1]]), torch.tensor([6])
    out = paged_attention(query, *caches, table, seq_lens, 0.5)

    assert torch.equal(out[0], dense_attention(query[0], key, value, 0.5))


def test_no_tokens_give_zeros():
    out = dense_attention(torch.randn(2, 4), torch.empty(0, 1, 4), torch.empty(0, 1, 4), 1.0)

    assert torch.equal(out, torch.zeros(2, 4))
