"""The block hashes of one request, as vLLM would show them."""

from collections.abc import Sequence

from sim.prefix_cache import vllm_block_hash


def hash_chain(
    token_ids: Sequence[int],
    block_size: int,
    cache_salt: str | None = None,
    lora_name: str | None = None,
) -> list[bytes]:
    """A hash for each full block, in order; each covers the one before it.

    The LoRA name enters every block, the salt only the first (vllm/v1/core/kv_cache_utils.py
    `generate_block_hash_extra_keys`).
    """
    chain: list[bytes] = []
    for start in range(0, len(token_ids) - block_size + 1, block_size):
        keys = (lora_name, None if chain else cache_salt)
        extra = tuple(key for key in keys if key is not None)
        tokens = token_ids[start : start + block_size]
        chain.append(vllm_block_hash(chain[-1] if chain else None, tokens, extra or None))
    return chain
