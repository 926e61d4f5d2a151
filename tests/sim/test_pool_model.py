"""The pool against the plainest form of the same rules: lists, walked from end to end."""

from array import array
from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sim.block_pool import BlockPool
from sim.events import EventKind

NUM_BLOCKS = 9
PREFIXES = st.lists(st.integers(1, 6), min_size=1, max_size=4, unique=True).map(sorted)


class PoolMachine(RuleBasedStateMachine):
    """Tables come and go; `free`, `hash_of` and `cached` say what vLLM would have now.

    A table is its blocks, and the prefixes that its first blocks were given.
    """

    unhashed_first = True

    def __init__(self):
        super().__init__()
        self.rows = []
        self.pool = BlockPool(NUM_BLOCKS, self, self.unhashed_first)
        self.pool.know_prefixes(9)
        self.free = list(range(1, NUM_BLOCKS))
        self.hash_of = {}
        self.cached = []  # (prefix, block), oldest first
        self.tables = []

    def record(self, kind, request, a=0, b=0, payload=()):
        self.rows.append((EventKind(kind).name, a, b, list(payload)))

    def forget(self, blocks):
        gone = [b for b in blocks if b in self.hash_of]
        for block in gone:
            self.cached.remove((self.hash_of.pop(block), block))
        return gone

    def held(self):
        return Counter(block for blocks, _ in self.tables for block in blocks)

    @rule(n=st.integers(0, 4))
    def take(self, n):
        n = min(n, len(self.free))
        taken, self.free = self.free[:n], self.free[n:]
        evicted = self.forget(taken)
        self.rows.clear()
        assert self.pool.get_new_blocks(n) == taken
        assert self.rows == [("TAKE", len(evicted), 0, taken)]
        self.tables.append((taken, []))

    @precondition(lambda self: self.tables)
    @rule(data=st.data())
    def give_back(self, data):
        blocks, prefixes = self.tables.pop(data.draw(st.integers(0, len(self.tables) - 1)))
        held = self.held()
        freed = [b for b in blocks[::-1] if not held[b]]
        first = [b for b in freed if b not in self.hash_of] if self.unhashed_first else []
        last = [b for b in freed if b not in first]
        self.free = [*first, *self.free, *last]
        self.rows.clear()
        self.pool.free_blocks(blocks[::-1], array("i", prefixes[::-1]), 0)
        rest = [b for b in blocks[::-1] if held[b]]
        assert self.rows == [("RELEASE", len(first), len(last), [*first, *last, *rest])]

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), names=PREFIXES)
    def cache(self, data, names):
        """The next blocks of a table, as a prefill fills them."""
        blocks, prefixes = data.draw(st.sampled_from(self.tables))
        names = [name for name in names if not prefixes or name > prefixes[-1]]
        pairs = list(zip(blocks[len(prefixes) :], names, strict=False))
        if pairs:
            self.pool.cache_full_blocks([b for b, _ in pairs], [p for _, p in pairs], 0, 0)
            self.give_names(pairs)
            prefixes += [name for _, name in pairs]

    @rule(name=st.integers(1, 6))
    def cache_several(self, name):
        """One block of each table, all with the same prefix, as decoders in one step fill them."""
        able = [t for t in self.tables if len(t[1]) < len(t[0]) and name > max(t[1], default=0)]
        pairs = [(blocks[len(prefixes)], name) for blocks, prefixes in able]
        self.pool.name([b for b, _ in pairs], [name for _ in pairs])
        self.give_names(pairs)
        for _, prefixes in able:
            prefixes.append(name)

    def give_names(self, pairs):
        self.hash_of.update(pairs)
        self.cached += [(name, block) for block, name in pairs]

    @rule(names=PREFIXES)
    def hit(self, names):
        expected = self.look_up(names)
        assert self.pool.get_cached_blocks(names) == expected
        if expected:
            self.pool.touch(expected, 0)
            self.free = [b for b in self.free if b not in expected]
            self.tables.append((expected, names[: len(expected)]))

    def look_up(self, names):
        found = []
        for wanted in names:
            holders = [block for name, block in self.cached if name == wanted]
            if not holders:
                break
            found.append(holders[0])
        return found

    @rule(block=st.integers(1, NUM_BLOCKS - 1))
    def evict(self, block):
        self.forget([block])
        self.pool.evict_blocks([block])

    @rule()
    def reset(self):
        done = len(self.free) == NUM_BLOCKS - 1
        assert self.pool.reset_prefix_cache() is done
        if done:
            self.hash_of, self.cached = {}, []

    @invariant()
    def agrees(self):
        assert list(self.pool.free_block_queue) == self.free
        assert self.pool.prefix_of == self.hash_of
        held = self.held()
        assert self.pool.ref_cnt == [held[b] for b in range(NUM_BLOCKS)]
        for name in range(1, 7):
            found = self.look_up([name])
            assert self.pool.get_cached_blocks([name]) == found
            assert self.pool.num_idle(found) == sum(not held[b] for b in found)
        self.pool.check()


class OldPoolMachine(PoolMachine):
    """The same before vLLM 0.26: freed blocks go to the tail, with a hash or without."""

    unhashed_first = False


TestPool = PoolMachine.TestCase
TestPool.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
TestOldPool = OldPoolMachine.TestCase
TestOldPool.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
