"""The free blocks in the order in which they are taken.

vLLM 0.26.0 links them in a list (vllm/v1/core/kv_cache_utils.py `FreeKVCacheBlockQueue`). Here the
same order lies in three parts, so that groups move as slices:

    put at the head, newest first | never used yet, by id | put at the tail, oldest first

A block at the tail stands beside the id of the prefix that it holds, 0 for none; the others hold
none. One that is taken out of the middle keeps its entry, which is passed over when its turn comes.
"""

from array import array
from collections.abc import Iterator, Sequence

NO_PREFIX = 0
ENOUGH_TAKEN = 4096  # entries at the start of the tail, before they are cut off


class FreeBlockQueue:
    """Free blocks, head (taken next) to tail; at first the ids `unused` .. `end` - 1.

    Memory grows with the blocks that came back, not with the ids that were never used.
    """

    def __init__(self, unused: int, end: int) -> None:
        self.unused = unused  # the lowest id that was never taken
        self.size = end - unused
        self._end = end
        self._head: list[int] = []
        self._tail: list[int] = []
        self._prefix_ids = array("i")  # of the tail: these come by the million, so no list
        self.some_hold_none = False  # of the tail
        self._start = 0  # of the tail: what lies before was taken
        self._left: dict[int, int] = {}  # block -> its entries in the tail that do not count

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[int]:
        yield from reversed(self._head)
        yield from range(self.unused, self._end)
        tail, left = self._tail[self._start :], self._left.copy()
        yield from self._counting(tail, tail, left)[0]

    def popleft_n(self, n: int) -> tuple[list[int], "array[int]"]:
        """Take the first n blocks, in order, of which there must be as many.

        Beside them the prefix ids of the last of them; those without hold none.
        """
        self.size -= n
        blocks: list[int] = []
        if n and self._head:
            blocks = self._head[: -n - 1 : -1]
            del self._head[-n:]
        if len(blocks) < n and self.unused < self._end:
            stop = min(self.unused + n - len(blocks), self._end)
            blocks += range(self.unused, stop)
            self.unused = stop
        prefix_ids = array("i")
        if not blocks:
            blocks, prefix_ids = self._pop_tail(n)
        while len(blocks) < n:
            more = self._pop_tail(n - len(blocks))
            blocks += more[0]
            prefix_ids += more[1]
        return blocks, prefix_ids

    def remove(self, blocks: Sequence[int]) -> None:
        """Take blocks that were put at the tail out of it, wherever they stand now."""
        for block_id in blocks:
            self._left[block_id] = self._left.get(block_id, 0) + 1
        self.size -= len(blocks)

    def append_n(self, blocks: Sequence[int], prefix_ids: "array[int]") -> None:
        """Add blocks at the tail, in order."""
        self._tail += blocks
        self._prefix_ids += prefix_ids
        self.size += len(blocks)

    def prepend_n(self, blocks: Sequence[int]) -> None:
        """Add blocks without a hash at the head; the first of them becomes the head."""
        self._head += reversed(blocks)
        self.size += len(blocks)

    def forget(self, block_id: int) -> None:
        """The block, at the tail, holds no prefix any more; it keeps its place."""
        last = max(i for i, entry in enumerate(self._tail) if entry == block_id)
        self._prefix_ids[last] = NO_PREFIX
        self.some_hold_none = True

    def forget_all(self) -> None:
        """No block holds a prefix any more; all keep their places."""
        self._prefix_ids = array("i", bytes(self._prefix_ids.itemsize * len(self._tail)))
        self.some_hold_none = True

    def _pop_tail(self, n: int) -> tuple[list[int], "array[int]"]:
        """What counts of the first n entries of the tail."""
        start = self._start
        self._start = stop = min(start + n, len(self._tail))
        popped, held = self._tail[start:stop], self._prefix_ids[start:stop]
        if self._left and not self._left.keys().isdisjoint(popped):
            popped, held = self._counting(popped, held, self._left)
        if stop > ENOUGH_TAKEN and stop * 2 > len(self._tail):
            del self._tail[:stop], self._prefix_ids[:stop]
            self._start = 0
        return popped, held

    @staticmethod
    def _counting(
        blocks: Sequence[int], prefix_ids: Sequence[int], left: dict[int, int]
    ) -> tuple[list[int], "array[int]"]:
        """The entries that still count: the first `left` of a block do not, and are used up."""
        counting: tuple[list[int], array[int]] = ([], array("i"))
        for block_id, prefix_id in zip(blocks, prefix_ids, strict=True):
            if block_id not in left:
                counting[0].append(block_id)
                counting[1].append(prefix_id)
            elif left[block_id] == 1:
                del left[block_id]
            else:
                left[block_id] -= 1
        return counting
