"""The pool of physical blocks: who is free, who is held how often, who holds which prefix.

Rules and their order are vLLM 0.26.0's, vllm/v1/core/block_pool.py `BlockPool`. Blocks come and go
in groups, and what a group does not need is not looked at: a request that holds its blocks alone
gives them back without a count, and blocks without a hash are taken without a look at the cache.
"""

from array import array
from collections.abc import Sequence
from itertools import chain, repeat

from sim.events import EventKind, Hazard, LogBuilder
from sim.free_queue import NO_PREFIX, FreeBlockQueue

# As plain numbers: a member of an enum takes ten times as long to look up.
TAKE, CACHE, RELEASE = EventKind.TAKE.value, EventKind.CACHE.value, EventKind.RELEASE.value

NULL_BLOCK = 0  # also "no block", as nothing may hold it
NO_REQUEST = -1


class BlockPool:
    """Owner of all blocks, 0 .. num_blocks - 1; block 0 is the null block, never handed out.

    `unhashed_first` puts freed blocks without a hash at the head of the free queue; before vLLM
    0.26 they went to the tail like all others. `uncomputed` blocks have a hash for tokens that
    nobody ever computed (`Hazard.UNCOMPUTED`). Memory grows with the blocks that were ever used.
    """

    def __init__(self, num_blocks: int, log: LogBuilder, unhashed_first: bool = True) -> None:
        self.num_blocks = num_blocks
        self.free_block_queue = FreeBlockQueue(NULL_BLOCK + 1, num_blocks)
        self.uncomputed: set[int] = set()
        self._unhashed_first = unhashed_first
        self._ref_cnt = [0]  # of the blocks that were ever used
        self._num_shared = 0  # blocks that several hold
        self._oldest = [NULL_BLOCK]  # prefix id -> the block that a lookup returns
        self._younger: dict[int, list[int]] = {}  # prefix id -> its other blocks, oldest first
        self._stripped: set[int] = set()  # held blocks that lost their hash
        self._record = log.record

    @property
    def num_free_blocks(self) -> int:
        """Blocks that can be taken now; those that still hold a hash count."""
        return self.free_block_queue.size

    @property
    def ref_cnt(self) -> list[int]:
        """How many tables hold each block. O(num_blocks), for looking from outside."""
        return self._ref_cnt + [0] * (self.num_blocks - len(self._ref_cnt))

    @property
    def prefix_of(self) -> dict[int, int]:
        """Block -> the prefix that it holds. O(prefixes), for looking from outside."""
        held = {block_id: p for p, block_id in enumerate(self._oldest) if block_id != NULL_BLOCK}
        return held | {b: p for p, blocks in self._younger.items() for b in blocks}

    def know_prefixes(self, highest: int) -> None:
        """Make room for prefix ids up to `highest`; to be called before larger ones are used."""
        if highest >= len(self._oldest):
            self._oldest += [NULL_BLOCK] * (highest + 1 - len(self._oldest))

    def get_cached_blocks(self, prefix_ids: Sequence[int]) -> list[int]:
        """The oldest block of each prefix (ascending ids), free or not, up to the first without."""
        oldest = self._oldest
        if not prefix_ids or oldest[prefix_ids[0]] == NULL_BLOCK:
            return []
        start, stop = prefix_ids[0], prefix_ids[-1] + 1
        if stop - start == len(prefix_ids) and all(blocks := oldest[start:stop]):
            return blocks  # numbered in a row, and all there
        blocks = []
        for prefix_id in prefix_ids:
            if not (block_id := oldest[prefix_id]):
                break
            blocks.append(block_id)
        return blocks

    def num_idle(self, blocks: Sequence[int]) -> int:
        """How many of the blocks nobody holds."""
        ref_cnt = self._ref_cnt
        return [ref_cnt[block_id] for block_id in blocks].count(0) if blocks else 0

    def get_new_blocks(self, n: int, request: int = NO_REQUEST) -> list[int]:
        """Take n blocks from the head of the free queue; each loses the hash it may hold.

        Raises ValueError when fewer are free: callers ask first.
        """
        blocks, evicted = self.take(n)
        self._record(TAKE, request, len(evicted), payload=blocks)
        return blocks

    def take(self, n: int) -> tuple[list[int], list[int]]:
        """`get_new_blocks` for several requests at once: the blocks, and those that lost a hash.

        The caller records them.
        """
        if n > self.free_block_queue.size:
            raise ValueError(f"{n} blocks asked for, {self.num_free_blocks} are free")
        blocks, prefix_ids = self.free_block_queue.popleft_n(n)
        ref_cnt = self._ref_cnt
        if self.free_block_queue.unused > len(ref_cnt):
            ref_cnt += [0] * (self.free_block_queue.unused - len(ref_cnt))
        for block_id in blocks:
            ref_cnt[block_id] = 1
        if not prefix_ids:
            return blocks, []
        return blocks, self._evict(blocks[-len(prefix_ids) :], prefix_ids)

    def touch(self, blocks: Sequence[int], request: int) -> None:
        """Hold blocks once more; a free one leaves the queue. Hashes stay."""
        ref_cnt = self._ref_cnt
        self.free_block_queue.remove([b for b in blocks if ref_cnt[b] == 0])
        for block_id in blocks:
            ref_cnt[block_id] += 1
            self._num_shared += ref_cnt[block_id] == 2
        self._record(EventKind.TOUCH, request, payload=blocks)
        if never_computed := sorted(self.uncomputed.intersection(blocks)):
            what = (Hazard.READS_UNCOMPUTED, len(never_computed), never_computed)
            self._record(EventKind.HAZARD, request, *what)

    def cache_full_blocks(
        self, blocks: Sequence[int], prefix_ids: Sequence[int], first: int, request: int
    ) -> None:
        """Give the request's blocks from its logical block `first` on the hash of their prefix.

        The prefix ids of a request ascend.
        """
        start, stop = prefix_ids[0], prefix_ids[-1] + 1
        if stop - start == len(blocks) and not any(self._oldest[start:stop]):
            self._oldest[start:stop] = blocks  # numbered in a row, and nobody had them
        else:
            self.name(blocks, prefix_ids)
        self._record(CACHE, request, first, len(blocks), [*blocks, *prefix_ids])

    def name(self, blocks: Sequence[int], prefix_ids: Sequence[int]) -> None:
        """`cache_full_blocks` for several requests at once; the caller records it.

        Of two blocks with one prefix the first is the older. Both are kept: tables never change.
        """
        oldest = self._oldest
        for block_id, prefix_id in zip(blocks, prefix_ids, strict=True):
            if oldest[prefix_id] == NULL_BLOCK:
                oldest[prefix_id] = block_id
            else:
                self._younger.setdefault(prefix_id, []).append(block_id)

    def free_blocks(self, blocks: list[int], prefix_ids: "array[int]", request: int) -> None:
        """Let go of blocks, given last block first; the last of them hold the `prefix_ids`.

        Those that nobody holds any more go to the head of the queue if they have no hash, else to
        its tail, each group in the order given.
        """
        num_unhashed = len(blocks) - len(prefix_ids)
        head, tail = blocks[:num_unhashed], blocks[num_unhashed:]
        held = self._let_go(blocks)
        if held or self._stripped or not self._unhashed_first:
            head, tail, prefix_ids = self._freed(head, tail, prefix_ids)
        self.free_block_queue.prepend_n(head)
        self.free_block_queue.append_n(tail, prefix_ids)
        self._record(RELEASE, request, len(head), len(tail), [*head, *tail, *held])

    def _let_go(self, blocks: list[int]) -> list[int]:
        """Count one holder less; the blocks that others hold still."""
        ref_cnt = self._ref_cnt
        if not self._num_shared:
            for block_id in blocks:
                ref_cnt[block_id] = 0
            return []
        held = [block_id for block_id in blocks if ref_cnt[block_id] > 1]
        for block_id in blocks:
            ref_cnt[block_id] -= 1
        self._num_shared -= [ref_cnt[block_id] for block_id in held].count(1)
        return held

    def _freed(
        self, unhashed: list[int], hashed: list[int], prefix_ids: "array[int]"
    ) -> tuple[list[int], list[int], "array[int]"]:
        """Of the blocks, those that nobody holds: for the head, for the tail, and its prefixes."""
        held = chain(repeat(NO_PREFIX, len(unhashed)), prefix_ids)
        ref_cnt, stripped = self._ref_cnt, self._stripped
        freed = [
            (block_id, NO_PREFIX if block_id in stripped else prefix_id)
            for block_id, prefix_id in zip((*unhashed, *hashed), held, strict=True)
            if ref_cnt[block_id] == 0
        ]
        stripped.difference_update([block_id for block_id, _ in freed] if stripped else ())
        to_tail = [pair for pair in freed if pair[1] != NO_PREFIX or not self._unhashed_first]
        head = [b for b, p in freed if p == NO_PREFIX] if self._unhashed_first else []
        self.free_block_queue.some_hold_none |= not self._unhashed_first
        return head, [b for b, _ in to_tail], array("i", [p for _, p in to_tail])

    def evict_blocks(self, blocks: Sequence[int]) -> None:
        """Clear the hash of blocks where they are; the free queue keeps its order."""
        prefix_of = self.prefix_of
        evicted = [b for b in blocks if b in prefix_of]
        self._evict(evicted, [prefix_of[b] for b in evicted])
        for block_id in evicted:
            if self._ref_cnt[block_id]:
                self._stripped.add(block_id)
            else:
                self.free_block_queue.forget(block_id)
        if evicted:
            self._record(EventKind.EVICT, NO_REQUEST, payload=evicted)

    def reset_prefix_cache(self) -> bool:
        """Forget every hash, if no block is held; else change nothing and say False."""
        done = self.num_free_blocks == self.num_blocks - 1
        if done:
            self.free_block_queue.forget_all()
            self._oldest = [NULL_BLOCK] * len(self._oldest)
            self._younger.clear()
            self.uncomputed.clear()
        self._record(EventKind.RESET, NO_REQUEST, int(done))
        return done

    def check(self) -> None:
        """Assert the pool's invariants: O(num_blocks), for tests."""
        free, ref_cnt = list(self.free_block_queue), self.ref_cnt
        assert len(free) == len(set(free)) == self.num_free_blocks
        assert set(free) == {b for b in range(1, self.num_blocks) if ref_cnt[b] == 0}
        assert self._num_shared == sum(count > 1 for count in ref_cnt)
        assert ref_cnt[NULL_BLOCK] == 0
        assert NULL_BLOCK not in self.prefix_of
        assert set(self._younger) <= {p for p, b in enumerate(self._oldest) if b != NULL_BLOCK}

    def _evict(self, blocks: list[int], prefix_ids: Sequence[int]) -> list[int]:
        """Take the hashes of blocks away; the blocks that had one."""
        if self.free_block_queue.some_hold_none:
            blocks = [b for b, p in zip(blocks, prefix_ids, strict=True) if p != NO_PREFIX]
            prefix_ids = [p for p in prefix_ids if p != NO_PREFIX]
        if self.uncomputed:
            self.uncomputed.difference_update(blocks)
        if self._younger:
            self._evict_one_by_one(blocks, prefix_ids)
            return blocks
        oldest = self._oldest
        for prefix_id in prefix_ids:
            oldest[prefix_id] = NULL_BLOCK
        return blocks

    def _evict_one_by_one(self, blocks: list[int], prefix_ids: Sequence[int]) -> None:
        for block_id, prefix_id in zip(blocks, prefix_ids, strict=True):
            younger = self._younger.get(prefix_id, [])
            if self._oldest[prefix_id] != block_id:
                younger.remove(block_id)
            else:
                self._oldest[prefix_id] = younger.pop(0) if younger else NULL_BLOCK
            if not younger:
                self._younger.pop(prefix_id, None)
