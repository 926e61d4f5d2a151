"""Names for prefixes: one small number for each distinct (parent, tokens, extra keys).

vLLM chains SHA-256 hashes (vllm/v1/core/kv_cache_utils.py `hash_block_tokens`); the simulator
needs only their equality, so it numbers prefixes in the order in which they are first seen.
`vllm_block_hash` gives the hash that vLLM itself would show.
"""

import hashlib
import pickle
from collections.abc import Hashable, Sequence

from sim.request import Request

NO_PARENT = -1


class PrefixIds:
    """Prefix -> number, for blocks of one size."""

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self._numbers: dict[tuple[int, Hashable, Hashable], int] = {}

    def of(self, request: Request, num_blocks: int) -> list[int]:
        """Numbers of the request's first `num_blocks` blocks, which must be full."""
        known = request.prefix_ids
        for i in range(len(known), num_blocks):
            content = request.content(i * self.block_size, (i + 1) * self.block_size)
            parent = known[-1] if known else NO_PARENT
            key = (parent, content, _extra_keys(request, i))
            known.append(self._numbers.setdefault(key, len(self._numbers)))
        return known[:num_blocks]


def _extra_keys(request: Request, block_idx: int) -> tuple[str | None, str | None]:
    """LoRA name in every block; the cache salt only in the one that starts the request.

    The two have a place of their own each, so a salt "x" is not a LoRA "x".
    """
    return (request.spec.lora_name, request.spec.cache_salt if block_idx == 0 else None)


def vllm_block_hash(
    parent: bytes | None, token_ids: Sequence[int], extra_keys: tuple[str, ...] | None = None
) -> bytes:
    """The hash that vLLM 0.26.0 gives a full block, with sha256 and PYTHONHASHSEED=0.

    `parent` is the previous block's hash, None for the first block.
    """
    root = _sha256("0")
    return _sha256((parent or root, tuple(token_ids), extra_keys))


def _sha256(value: object) -> bytes:
    return hashlib.sha256(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)).digest()
