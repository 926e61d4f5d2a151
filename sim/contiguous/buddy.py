"""The buddy allocator: contiguous pieces of memory whose sizes and addresses are powers of two.

A piece of 2^k slots starts at a multiple of 2^k. A larger free block is halved until it fits, and
two free halves of the same block become one again (Knuth, The Art of Computer Programming, 2.5).
"""


def power_of_two(slots: int) -> int:
    """The smallest power of two that is at least `slots`, for 1 slot or more."""
    return 1 << (slots - 1).bit_length()


class BuddyMemory:
    """Memory of `capacity` slots, any number: it begins as one free block for each binary digit.

    4 + 2 + 1 slots for a capacity of 7, the largest at address 0. Blocks of different digits have
    no common whole, so they never merge.
    """

    def __init__(self, capacity: int) -> None:
        # size: starts of the free blocks, sizes ascending
        self._free: dict[int, set[int]] = {1 << k: set() for k in range(capacity.bit_length())}
        start = 0
        for size in reversed(self._free):
            if capacity & size:
                self._free[size].add(start)
                start += size

    @property
    def largest(self) -> int:
        """Slots of the largest piece there can ever be; 0 without memory."""
        return max(self._free, default=0)

    def take(self, slots: int) -> int | None:
        """Start of a new piece of power_of_two(slots), or None when no free block is that large.

        It comes out of the smallest free block that is large enough, at the lowest address.
        """
        size = power_of_two(slots)
        block = next((s for s, starts in self._free.items() if s >= size and starts), None)
        if block is None:
            return None
        start = min(self._free[block])
        self._free[block].remove(start)
        while block > size:
            block //= 2
            self._free[block].add(start + block)
        return start

    def give_back(self, start: int, slots: int) -> None:
        """Free the piece that `take(slots)` put at `start`."""
        size = power_of_two(slots)
        while (buddy := start ^ size) in self._free[size]:
            self._free[size].remove(buddy)
            start = min(start, buddy)
            size *= 2
        self._free[size].add(start)

    def too_small_for(self, slots: int) -> int:
        """Free slots in blocks that `take(slots)` could not use."""
        size = power_of_two(slots)
        return sum(s * len(starts) for s, starts in self._free.items() if s < size)
