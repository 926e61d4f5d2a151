"""Names for prefixes: one number for each distinct (everything up to a block's end, extra keys).

vLLM chains SHA-256 hashes (vllm/v1/core/kv_cache_utils.py `hash_block_tokens`); the simulator
needs only their equality, so it numbers prefixes, by comparing them: no hash, no collision.
`vllm_block_hash` gives the hash that vLLM itself would show.
"""

import hashlib
import pickle
from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from sim.request import Request

FIRST_PREFIX = 1  # 0 is "no prefix"
OUTPUT_BLOCKS = 16  # numbered at a time, for outputs that nobody else has


@dataclass(slots=True)
class _Edge:
    """A run of blocks on which no two known requests part.

    It is told by `owner`, whose logical blocks `first` .. it is; `ids` numbers them. What follows
    the run hangs below, by the content of its first block.
    """

    owner: Request
    first: int
    ids: range
    below: dict[Hashable, "_Edge"]


class PrefixIds:
    """Prefix -> number, for blocks of one size: a radix tree over all requests seen.

    A request costs as many comparisons as it shares with others, not as many as it has blocks.
    Numbers ascend along a request and may have gaps; `most` blocks of it get one, as no table is
    longer.
    """

    def __init__(self, block_size: int, most: int) -> None:
        self.block_size = block_size
        self.most = most
        self._root: dict[Hashable, _Edge] = {}
        self._next = FIRST_PREFIX
        self._numbers = array("i")  # 0, 1, 2 and so on, as slices of it are quick to take

    @property
    def highest(self) -> int:
        """The largest number given so far."""
        return self._next - 1

    def number(self, request: Request, num_blocks: int) -> None:
        """Make `request.prefix_ids` cover at least its first `num_blocks` blocks.

        All blocks whose tokens the scenario gives; if it gives no outputs, a portion of them too.
        """
        known = min(request.num_scripted_tokens // self.block_size, self.most)
        if len(request.prefix_ids) < known:
            request.prefix_ids = self._walk(request, known)
        if request.spec.output_token_ids is None:
            missing = num_blocks - len(request.prefix_ids)
            request.prefix_ids += self._array(self._take(max(missing, OUTPUT_BLOCKS)))

    def _take(self, n: int) -> range:
        self._next += n
        return range(self._next - n, self._next)

    def _array(self, ids: range) -> "array[int]":
        if ids.stop > len(self._numbers):
            more = np.arange(len(self._numbers), 2 * ids.stop, dtype=np.int32)
            self._numbers.frombytes(more.tobytes())
        return self._numbers[ids.start : ids.stop]

    def _walk(self, request: Request, num_blocks: int) -> "array[int]":
        """Down the tree as far as others have the same blocks; the rest becomes a new edge."""
        ids = array("i")
        edges = self._root
        while (done := len(ids)) < num_blocks:
            key = self._key(request, done)
            edge = edges.get(key)
            if edge is None:
                rest = self._take(num_blocks - done)
                edges[key] = _Edge(request, done, rest, {})
                return ids + self._array(rest)
            shared = self._shared(request, edge, num_blocks)
            if shared < len(edge.ids) and done + shared < num_blocks:
                self._split(edge, shared)
            ids += self._array(edge.ids[:shared])
            edges = edge.below
        return ids

    def _key(self, request: Request, block_idx: int) -> Hashable:
        """What tells an edge from its siblings: the first block, and at the root the extra keys.

        vLLM hashes the LoRA name into every block, the salt into the first; either way all later
        blocks differ through the chain. A salt "x" is not a LoRA "x".
        """
        size = self.block_size
        content = request.content(block_idx * size, (block_idx + 1) * size)
        spec = request.spec
        return (content, spec.lora_name, spec.cache_salt) if block_idx == 0 else content

    def _shared(self, request: Request, edge: _Edge, num_blocks: int) -> int:
        """How many blocks of an edge are the request's, too; the first is known to be."""
        most = min(len(edge.ids), num_blocks - edge.first)
        if request is edge.owner:
            return most
        low, high = 1, most
        while low < high:
            middle = (low + high + 1) // 2
            span = ((edge.first + low) * self.block_size, (edge.first + middle) * self.block_size)
            if request.content(*span) == edge.owner.content(*span):
                low = middle
            else:
                high = middle - 1
        return low

    def _split(self, edge: _Edge, at: int) -> None:
        """Cut an edge after `at` blocks, so that another can leave it there."""
        below = _Edge(edge.owner, edge.first + at, edge.ids[at:], edge.below)
        edge.ids = edge.ids[:at]
        edge.below = {self._key(edge.owner, below.first): below}


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
