"""Block tables: which blocks a request gets, reuses and gives back.

Rules are vLLM 0.26.0's, vllm/v1/core/kv_cache_manager.py `KVCacheManager` and
vllm/v1/core/single_type_kv_cache_manager.py `FullAttentionManager`, for one full-attention group.
"""

from collections.abc import Sequence

from sim.block_pool import BlockPool
from sim.decoders import Decoders
from sim.events import EventKind, LogBuilder
from sim.prefix_cache import PrefixIds
from sim.request import Request, RequestStatus
from sim.scenario import Scenario

# As plain numbers, for the busiest lines: a member of an enum takes ten times as long to look up.
TAKE, CACHE = EventKind.TAKE.value, EventKind.CACHE.value
LOOKUP, ALLOC_FAILED = EventKind.LOOKUP.value, EventKind.ALLOC_FAILED.value
NO_PHASE = -1
ENTERING = (RequestStatus.WAITING, RequestStatus.PREEMPTED)


class KVCacheManager:
    """Allocates for requests out of one BlockPool; the only one that changes block tables."""

    def __init__(self, scenario: Scenario, log: LogBuilder) -> None:
        self.block_size = scenario.block_size
        self.max_model_len = scenario.max_model_len
        self.enable_caching = scenario.enable_prefix_caching
        unhashed_first = scenario.version == "0.26.0"
        self.block_pool = BlockPool(scenario.num_gpu_blocks, log, unhashed_first)
        self.watermark_blocks = int(scenario.watermark * scenario.num_gpu_blocks)
        self._prefix_ids = PrefixIds(scenario.block_size, scenario.num_gpu_blocks)
        self._log = log

    def get_computed_blocks(self, request: Request) -> list[int]:
        """The longest run of cached blocks from the start of the request; changes no block.

        At most (num_tokens - 1) // block_size: one token must be computed to get logits.
        """
        num_tokens = request.num_tokens
        hits: list[int] = []
        if self.enable_caching and not request.spec.skip_reading_prefix_cache:
            most = min((num_tokens - 1) // self.block_size, self._prefix_ids.most)
            if most > len(request.prefix_ids):
                self._number(request, most)
            hits = self.block_pool.get_cached_blocks(request.prefix_ids[:most])
        hit_tokens = len(hits) * self.block_size
        self._log.record(LOOKUP, request.index, num_tokens, hit_tokens, hits)
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
        have = len(request.block_table) + len(hits)
        new_blocks = max(-(-slots // self.block_size) - have, 0)
        free = self.block_pool.num_free_blocks - self.block_pool.num_idle(hits)
        if self.watermark_blocks and has_scheduled_reqs and request.status in ENTERING:
            free -= self.watermark_blocks
        missing = new_blocks - (free - reserved_blocks)
        if full_sequence_must_fit:
            whole = min(request.num_tokens, self.max_model_len)
            missing = max(missing, max(-(-whole // self.block_size) - have, 0) - free)
        if missing > 0:
            self._log.record(ALLOC_FAILED, request.index, num_new_tokens, missing)
            return None
        taken = self._extend_table(request, hits, new_blocks)
        if self.enable_caching and not delay_cache_blocks:
            self.cache_blocks(request, min(computed + num_new_tokens, request.num_tokens))
        return taken

    def allocate_decodes(self, requests: Sequence[Request], decoders: Decoders) -> int:
        """`allocate_slots` for one more token of each decoder, in order, as far as blocks reach.

        Returns how many got theirs; the failure of the next one is recorded.
        """
        phases = [request.phase for request in requests]
        num_starts, num_free = phases.count(decoders.starting), self.block_pool.num_free_blocks
        if num_starts <= num_free:
            self._take_and_fill(requests, num_starts, decoders)
            return len(requests)
        served = [i for i, phase in enumerate(phases) if phase == decoders.starting][num_free]
        self._take_and_fill(requests[:served], num_free, decoders)
        self._log.record(ALLOC_FAILED, requests[served].index, 1, 1)
        return served

    def _take_and_fill(
        self, requests: Sequence[Request], num_starts: int, decoders: Decoders
    ) -> None:
        """A block for each decoder that starts one, a hash for each block that is filled."""
        blocks, evicted = self.block_pool.take(num_starts)
        taken, lost_hash = iter(blocks), set(evicted)
        starting, filling = decoders.starting, decoders.filling if self.enable_caching else NO_PHASE
        rows, payload = self._log.rows, self._log.payload
        full_blocks: list[int] = []
        prefix_ids: list[int] = []
        for request in requests:
            if request.phase == starting:
                block_id = next(taken)
                request.block_table.append(block_id)
                rows += (TAKE, request.index, block_id in lost_hash, 0, 1)
                payload.append(block_id)
            if request.phase == filling:
                logical = request.num_cached_blocks
                request.num_cached_blocks = logical + 1
                if logical >= len(request.prefix_ids):
                    self._number(request, logical + 1)
                block_id, prefix_id = request.block_table[logical], request.prefix_ids[logical]
                full_blocks.append(block_id)
                prefix_ids.append(prefix_id)
                rows += (CACHE, request.index, logical, 1, 2)
                payload += (block_id, prefix_id)
        self.block_pool.name(full_blocks, prefix_ids)

    def cache_blocks(self, request: Request, num_tokens: int) -> None:
        """Give a hash to every block that the first `num_tokens` tokens fill, once."""
        first, full = request.num_cached_blocks, num_tokens // self.block_size
        if full <= first:
            return
        if full > len(request.prefix_ids):
            self._number(request, full)
        blocks, prefix_ids = request.block_table[first:full], request.prefix_ids[first:full]
        self.block_pool.cache_full_blocks(blocks, prefix_ids, first, request.index)
        request.num_cached_blocks = full

    def free(self, request: Request) -> None:
        """Give back all blocks, last first, so that the end of a prefix is evicted before it."""
        blocks, hashed = request.block_table, request.num_cached_blocks
        if blocks:
            prefix_ids = request.prefix_ids[:hashed]
            self.block_pool.free_blocks(blocks[::-1], prefix_ids[::-1], request.index)
        request.block_table = []
        request.num_cached_blocks = 0

    def reset_prefix_cache(self) -> bool:
        """Forget every hash, if nothing is held."""
        return self.block_pool.reset_prefix_cache()

    def _number(self, request: Request, num_blocks: int) -> None:
        """Give the request prefix ids up to so many blocks, which it has not yet."""
        self._prefix_ids.number(request, num_blocks)
        self.block_pool.know_prefixes(self._prefix_ids.highest)

    def _extend_table(self, request: Request, hits: Sequence[int], new_blocks: int) -> list[int]:
        if hits:
            self.block_pool.touch(hits, request.index)
            request.block_table += hits
            request.num_cached_blocks = len(hits)
        if not new_blocks:
            return []
        taken = self.block_pool.get_new_blocks(new_blocks, request.index)
        request.block_table += taken
        return taken
