"""The specification of the kernels, in torch: what they must compute, with no thought of speed.

The cache layout everywhere in this package is [num_blocks, block_size, num_kv_heads, head_size],
keys and values in two tensors. Query head h reads KV head h // (num_heads // num_kv_heads).
"""

import torch


def dense_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float
) -> torch.Tensor:
    """Softmax(scale · q·kᵀ) · v of one query token, over keys that lie in one piece.

    query [num_heads, head_size], key and value [num_tokens, num_kv_heads, head_size]; computed and
    returned in their dtype (use float64 for a reference). No tokens give zeros.
    """
    if key.shape[0] == 0:
        return torch.zeros_like(query)
    grouped = query.reshape(
        key.shape[1], -1, query.shape[1]
    )  # [num_kv_heads, group_size, head_size]
    scores = torch.einsum("hgd,thd->hgt", grouped, key) * scale
    return torch.einsum("hgt,thd->hgd", torch.softmax(scores, dim=-1), value).flatten(0, 1)


def paged_attention(
    query: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    scale: float,
) -> torch.Tensor:
    """Gather each sequence's tokens through its block table, then attend densely.

    Arguments as in `kernels.decode.paged_attention`.
    """
    out = torch.zeros_like(query)
    for seq, seq_len in enumerate(seq_lens.tolist()):
        token = torch.arange(seq_len, device=query.device)
        block = block_tables[seq].long()[token // key_cache.shape[1]]
        slot = token % key_cache.shape[1]
        out[seq] = dense_attention(
            query[seq], key_cache[block, slot], value_cache[block, slot], scale
        )
    return out


def reshape_and_cache_flash(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
) -> None:
    """Write token i to slot_mapping[i], in place; a slot below 0 is skipped.

    Arguments as in `kernels.cache_write.reshape_and_cache_flash`.
    """
    token = torch.nonzero(slot_mapping >= 0).flatten()
    slot = slot_mapping[token]
    block, place = slot // key_cache.shape[1], slot % key_cache.shape[1]
    key_cache[block, place] = key[token]
    value_cache[block, place] = value[token]
