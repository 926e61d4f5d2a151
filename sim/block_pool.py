"""The pool of physical blocks: who is free, who is held how often, who holds which prefix.

Rules and their order are vLLM 0.26.0's, vllm/v1/core/block_pool.py `BlockPool` and
vllm/v1/core/kv_cache_utils.py `FreeKVCacheBlockQueue`.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence

from sim.events import EventKind, Record

NULL_BLOCK = 0
NO_REQUEST = -1


class FreeBlockQueue:
    """Blocks with ref_cnt 0, hashed or not: the head is taken (and evicted) next.

    An OrderedDict, because popping the head, adding at either end and unlinking from the middle
    are all O(1) in it.
    """

    def __init__(self, block_ids: Iterable[int]) -> None:
        self._blocks: OrderedDict[int, None] = OrderedDict.fromkeys(block_ids)

    def __len__(self) -> int:
        return len(self._blocks)

    def __iter__(self) -> Iterator[int]:
        return iter(self._blocks)

    def popleft_n(self, n: int) -> list[int]:
        """Take the first n blocks, in order."""
        return [self._blocks.popitem(last=False)[0] for _ in range(n)]

    def remove(self, block_id: int) -> None:
        """Unlink a block wherever it stands."""
        del self._blocks[block_id]

    def append_n(self, block_ids: Sequence[int]) -> None:
        """Add blocks at the tail, in order."""
        self._blocks.update(dict.fromkeys(block_ids))

    def prepend_n(self, block_ids: Sequence[int]) -> None:
        """Add blocks at the head; the first of them becomes the head."""
        for block_id in reversed(block_ids):
            self._blocks[block_id] = None
            self._blocks.move_to_end(block_id, last=False)


class BlockPool:
    """Owner of all blocks, 0 .. num_blocks - 1; block 0 is the null block, never handed out."""

    def __init__(self, num_blocks: int, record: Record) -> None:
        self.num_blocks = num_blocks
        self.ref_cnt = [0] * num_blocks
        self.prefix_of: dict[int, int] = {}
        self.free_block_queue = FreeBlockQueue(range(1, num_blocks))
        self._cached: dict[int, dict[int, None]] = {}  # prefix id -> blocks, oldest first
        self._record = record

    @property
    def num_free_blocks(self) -> int:
        """Blocks that can be taken now; those that still hold a hash count."""
        return len(self.free_block_queue)

    @property
    def usage(self) -> float:
        """Share of the usable blocks that is held; 0 in a pool of the null block alone."""
        usable = self.num_blocks - 1
        return 1.0 - self.num_free_blocks / usable if usable else 0.0

    def get_cached_block(self, prefix_id: int) -> int | None:
        """The oldest block that holds this prefix, free or not, or None."""
        return next(iter(self._cached.get(prefix_id, ())), None)

    def get_new_blocks(self, n: int, request: int = NO_REQUEST) -> list[int]:
        """Take n blocks from the head of the free queue; each loses the hash it may hold.

        Raises ValueError when fewer are free: callers ask first.
        """
        if n > self.num_free_blocks:
            raise ValueError(f"{n} blocks asked for, {self.num_free_blocks} are free")
        blocks = self.free_block_queue.popleft_n(n)
        self._evict(blocks, request)
        for block_id in blocks:
            self.ref_cnt[block_id] = 1
        self._record(EventKind.TAKE, request, payload=blocks)
        return blocks

    def touch(self, blocks: Sequence[int], request: int) -> None:
        """Hold blocks once more; a free one leaves the queue. Hashes stay."""
        for block_id in blocks:
            if self.ref_cnt[block_id] == 0:
                self.free_block_queue.remove(block_id)
            self.ref_cnt[block_id] += 1
        self._record(EventKind.TOUCH, request, payload=blocks)

    def cache_full_blocks(
        self, blocks: Sequence[int], prefix_ids: Sequence[int], first: int, request: int
    ) -> None:
        """Give full blocks their hash. Duplicates are kept: block tables never change."""
        for block_id, prefix_id in zip(blocks, prefix_ids, strict=True):
            self.prefix_of[block_id] = prefix_id
            self._cached.setdefault(prefix_id, {})[block_id] = None
        payload = [*blocks, *prefix_ids]
        self._record(EventKind.CACHE, request, first, len(blocks), payload)

    def free_blocks(self, blocks: Sequence[int], request: int) -> None:
        """Let go of blocks, given last block first.

        Those that nobody holds any more go to the head of the queue if they have no hash, else to
        its tail, each group in the order given.
        """
        for block_id in blocks:
            self.ref_cnt[block_id] -= 1
        freed = [b for b in blocks if self.ref_cnt[b] == 0]
        head = [b for b in freed if b not in self.prefix_of]
        tail = [b for b in freed if b in self.prefix_of]
        self.free_block_queue.prepend_n(head)
        self.free_block_queue.append_n(tail)
        held = [b for b in blocks if self.ref_cnt[b] > 0]
        self._record(EventKind.RELEASE, request, len(head), len(tail), [*head, *tail, *held])

    def evict_blocks(self, blocks: Sequence[int]) -> None:
        """Clear the hash of blocks where they are; the free queue keeps its order."""
        self._evict(blocks, NO_REQUEST)

    def reset_prefix_cache(self) -> bool:
        """Forget every hash, if no block is held; else change nothing and say False."""
        done = self.num_free_blocks == self.num_blocks - 1
        if done:
            self.prefix_of.clear()
            self._cached.clear()
        self._record(EventKind.RESET, NO_REQUEST, int(done))
        return done

    def check(self) -> None:
        """Assert the pool's invariants: O(num_blocks), for tests."""
        free = list(self.free_block_queue)
        assert len(free) == len(set(free))
        assert set(free) == {b for b in range(1, self.num_blocks) if self.ref_cnt[b] == 0}
        listed = {b: prefix for prefix, blocks in self._cached.items() for b in blocks}
        assert listed == self.prefix_of
        assert NULL_BLOCK not in self.prefix_of

    def _evict(self, blocks: Sequence[int], request: int) -> None:
        evicted = [b for b in blocks if b in self.prefix_of]
        for block_id in evicted:
            prefix_id = self.prefix_of.pop(block_id)
            holders = self._cached[prefix_id]
            del holders[block_id]
            if not holders:
                del self._cached[prefix_id]
        if evicted:
            self._record(EventKind.EVICT, request, payload=evicted)
