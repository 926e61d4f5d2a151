"""What a prompt holds: token ids, or the block ids that a public trace gives in their place.

The simulator never looks at a token; it only asks whether two stretches are the same. `content`
answers with a value that is equal exactly when the tokens are, so no hash can collide
(vLLM needs SHA-256 here, vllm/v1/core/kv_cache_utils.py `hash_block_tokens`).
"""

from collections.abc import Hashable
from dataclasses import dataclass

Content = tuple[Hashable, ...]  # equal exactly when the tokens are


@dataclass(frozen=True, slots=True)
class TokenPrompt:
    """A prompt as token ids, in order."""

    token_ids: tuple[int, ...]

    @property
    def num_tokens(self) -> int:
        """Length in tokens."""
        return len(self.token_ids)

    def content(self, start: int, stop: int) -> Content:
        """Tokens [start, stop), comparable with any other prompt's."""
        return self.token_ids[start:stop]


@dataclass(frozen=True, slots=True)
class HashedPrompt:
    """A prompt as prefix-chained ids of blocks of `hash_block_size` tokens (Mooncake's traces).

    Equal ids at equal places mean equal tokens; the last block may be partial.
    """

    hash_ids: tuple[int, ...]
    hash_block_size: int
    num_tokens: int

    def content(self, start: int, stop: int) -> Content:
        """Tokens [start, stop) as (id, first, last) pieces, one for each hash block touched."""
        size = self.hash_block_size
        return tuple(
            (self.hash_ids[i], max(start - i * size, 0), min(stop - i * size, size))
            for i in range(start // size, -(-stop // size))
        )


Prompt = TokenPrompt | HashedPrompt
