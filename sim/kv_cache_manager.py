"""Block tables: which blocks a request gets, reuses and gives back.

Rules are vLLM 0.26.0's, vllm/v1/core/kv_cache_manager.py `KVCacheManager` and
vllm/v1/core/single_type_kv_cache_manager.py `FullAttentionManager`, for one full-attention group.
"""

from collections.abc import Sequence

from sim.block_pool import BlockPool
from sim.events import EventKind, Record
from sim.prefix_cache import PrefixIds
from sim.request import Request, RequestStatus


class KVCacheManager:
    """Allocates for requests out of one BlockPool; the only one that changes block tables."""

    def __init__(
        self,
        num_gpu_blocks: int,
        block_size: int,
        max_model_len: int,
        enable_caching: bool,
        record: Record,
        watermark: float = 0.0,
    ) -> None:
        self.block_size = block_size
        self.max_model_len = max_model_len
        self.enable_caching = enable_caching
        self.block_pool = BlockPool(num_gpu_blocks, record)
        self.watermark_blocks = int(watermark * num_gpu_blocks)
        self._prefix_ids = PrefixIds(block_size)
        self._record = record

    def get_computed_blocks(self, request: Request) -> list[int]:
        """The longest run of cached blocks from the start of the request; changes no block.

        At most (num_tokens - 1) // block_size: one token must be computed to get logits.
        """
        reads = self.enable_caching and not request.spec.skip_reading_prefix_cache
        hits = self._longest_cached_run(request) if reads else []
        tokens = len(hits) * self.block_size
        self._record(EventKind.LOOKUP, request.index, request.num_tokens, tokens, hits)
        return hits

    def _longest_cached_run(self, request: Request) -> list[int]:
        hits: list[int] = []
        for prefix_id in self._prefix_ids.of(request, (request.num_tokens - 1) // self.block_size):
            block_id = self.block_pool.get_cached_block(prefix_id)
            if block_id is None:
                break
            hits.append(block_id)
        return hits

    def allocate_slots(
        self,
        request: Request,
        num_new_tokens: int,
        hits: Sequence[int] = (),
        *,
        num_lookahead_tokens: int = 0,
        full_sequence_must_fit: bool = False,
        reserved_blocks: int = 0,
        has_scheduled_reqs: bool = True,
        delay_cache_blocks: bool = False,
    ) -> list[int] | None:
        """New blocks for the request's next tokens, or None with nothing changed.

        | computed | hits | new tokens | lookahead |
        |     in the table    |   to allocate    |

        Only tokens that exist are cached, and they are when their block is scheduled to be full.
        Raises ValueError when `num_new_tokens` is 0.
        """
        if num_new_tokens <= 0:
            raise ValueError(f"num_new_tokens is {num_new_tokens}; at least 1 is needed")
        computed = request.num_computed_tokens + len(hits) * self.block_size
        slots = min(computed + num_new_tokens + num_lookahead_tokens, self.max_model_len)
        watermark = self._watermark(request, has_scheduled_reqs)
        needed = self._blocks_needed(request, slots, hits) + watermark
        available = self.block_pool.num_free_blocks - reserved_blocks
        missing = needed - available
        if full_sequence_must_fit:
            whole = min(request.num_tokens, self.max_model_len)
            gate = self._blocks_needed(request, whole, hits) + watermark
            missing = max(missing, gate - self.block_pool.num_free_blocks)
        if missing > 0:
            self._record(EventKind.ALLOC_FAILED, request.index, num_new_tokens, missing)
            return None
        new_blocks = self._extend_table(request, slots, hits)
        if self.enable_caching and not delay_cache_blocks:
            self.cache_blocks(request, min(computed + num_new_tokens, request.num_tokens))
        return new_blocks

    def cache_blocks(self, request: Request, num_tokens: int) -> None:
        """Give a hash to every block that the first `num_tokens` tokens fill, once."""
        first, full = request.num_cached_blocks, num_tokens // self.block_size
        if full <= first:
            return
        prefix_ids = self._prefix_ids.of(request, full)[first:]
        blocks = request.block_table[first:full]
        self.block_pool.cache_full_blocks(blocks, prefix_ids, first, request.index)
        request.num_cached_blocks = full

    def free(self, request: Request) -> None:
        """Give back all blocks, last first, so that the end of a prefix is evicted before it."""
        if request.block_table:
            self.block_pool.free_blocks(request.block_table[::-1], request.index)
        request.block_table = []
        request.num_cached_blocks = 0

    def reset_prefix_cache(self) -> bool:
        """Forget every hash, if nothing is held."""
        return self.block_pool.reset_prefix_cache()

    def _watermark(self, request: Request, has_scheduled_reqs: bool) -> int:
        entering = request.status in (RequestStatus.WAITING, RequestStatus.PREEMPTED)
        return self.watermark_blocks if entering and has_scheduled_reqs else 0

    def _blocks_needed(self, request: Request, slots: int, hits: Sequence[int]) -> int:
        """Blocks out of the free queue: new ones, and hits that nobody holds now."""
        have = len(request.block_table) + len(hits)
        new = max(-(-slots // self.block_size) - have, 0)
        return new + sum(self.block_pool.ref_cnt[block_id] == 0 for block_id in hits)

    def _extend_table(self, request: Request, slots: int, hits: Sequence[int]) -> list[int]:
        table = request.block_table
        if hits:
            self.block_pool.touch(hits, request.index)
            table.extend(hits)
            request.num_cached_blocks = len(hits)
        missing = -(-slots // self.block_size) - len(table)
        if missing <= 0:
            return []
        new_blocks = self.block_pool.get_new_blocks(missing, request.index)
        table.extend(new_blocks)
        return new_blocks
