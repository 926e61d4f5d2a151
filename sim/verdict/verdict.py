"""Why each block of a prompt hit or missed, found in the log.

A lookup that let a request in is held against what was cached before it: what the request shares
with each that had cached something, and what became of the blocks with the same tokens.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np

from sim.event_log import EventLog
from sim.events import EventKind
from sim.verdict.cache_history import CacheHistory, Copy
from sim.verdict.neighbours import Neighbours
from sim.verdict.shared_tokens import is_exact

NOBODY = -1


class Reason(StrEnum):
    """What decided about a block."""

    HIT = "hit"
    FIRST = "first"  # nothing was ever cached before
    TOKEN = "token"  # a token differs from the closest other prompt's
    ENDS = "ends"  # the closest other prompt ended before a token could differ
    SALT = "salt"  # another request has the same tokens under another salt
    LORA = "lora"  # another request has the same tokens under another LoRA
    PARENT = "parent"  # the block before it missed
    EVICTED = "evicted"  # it was cached, and its block was taken since
    FORGOTTEN = "forgotten"  # it was cached, and the cache was reset since
    UNCACHED = "uncached"  # these tokens, though known, were never cached
    HELD_BACK = "held back"  # cached, but one token must be computed to get logits
    NOT_FULL = "not full"  # only full blocks have a hash
    CACHING_OFF = "caching off"  # no request of the run looks anything up
    NOT_READ = "not read"  # this one does not (skip_reading_prefix_cache)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one lookup found for one logical block of `request` (an index in the scenario).

    `block` is the physical block that was hit, that was held back, or that held the prefix until it
    was lost. `other` is the request that computed it, that took it, or whose prompt is
    the closest. `token` is the position of the first token that differs, or that a block still
    lacks; `since` the step in which the block got its hash, or lost it.

    A trace tells no tokens, only ids of stretches of them. Where two ids differ, `token` is the
    first token they stand for, and not `exact`: the first that differs is somewhere from it on.
    """

    step: int
    request: int
    logical: int
    reason: Reason
    block: int | None = None
    other: int | None = None
    token: int | None = None
    since: int | None = None
    exact: bool = True


@dataclass(frozen=True)
class Lookup:
    """What was looked up at `row` of the log, before a request was let in with `num_tokens` tokens.

    A request that was preempted comes again, `resumed`, and asks for its answer so far too.
    `num_hits` blocks hit. The verdicts are found when they are first asked for, and kept.
    """

    step: int
    request: int
    num_tokens: int
    resumed: bool
    num_hits: int
    row: int
    history: CacheHistory = field(repr=False, compare=False)

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """A verdict for each block of the tokens, the last of which may not be full."""
        return tuple(_Inquiry(self).verdicts())


def lookups(log: EventLog) -> list[Lookup]:
    """The lookup of each admission, in order; also of one that cannot hit, as it reads nothing."""
    columns, history = log.columns, CacheHistory(log)
    admitted = np.flatnonzero(columns["kind"] == EventKind.ADMIT)
    asked = np.flatnonzero(columns["kind"] == EventKind.LOOKUP)
    rows = asked[np.searchsorted(asked, admitted) - 1]
    found = (
        history.step_of(rows),
        columns["request"][rows],
        columns["a"][rows],
        columns["b"][admitted] == 1,
        columns["b"][rows] // log.scenario.block_size,
        rows,
    )
    return [
        Lookup(step, request, num_tokens, resumed, num_hits, row, history)
        for step, request, num_tokens, resumed, num_hits, row in zip(
            *(column.tolist() for column in found), strict=True
        )
    ]


class _Inquiry:
    """One lookup held against the cache and the requests as they were then."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self.history = lookup.history
        self.log = lookup.history.log
        self.requests = self.log.scenario.requests
        self.block_size = self.log.scenario.block_size
        self.others = Neighbours(self.history, lookup.request, lookup.num_tokens, lookup.row)

    def verdicts(self) -> Iterator[Verdict]:
        """All verdicts, in order: hits come first, a block that is not full last."""
        full, rest = divmod(self.lookup.num_tokens, self.block_size)
        yield from self._hits()
        for logical in range(self.lookup.num_hits, full):
            yield self._miss(logical)
        if rest:
            yield self._verdict(full, Reason.NOT_FULL, token=self.lookup.num_tokens)

    def _hits(self) -> Iterator[Verdict]:
        blocks = self.log.payload(self.lookup.row)
        rows = self.history.cached_rows(blocks, self.lookup.row)
        for logical, (block, row) in enumerate(zip(blocks.tolist(), rows.tolist(), strict=True)):
            yield self._told_by(row, logical, Reason.HIT, block)

    def _miss(self, logical: int) -> Verdict:
        if not self.log.scenario.enable_prefix_caching:
            return self._verdict(logical, Reason.CACHING_OFF)
        if self.requests[self.lookup.request].skip_reading_prefix_cache:
            return self._verdict(logical, Reason.NOT_READ)
        if not self.others.shared:
            return self._verdict(logical, Reason.FIRST)
        if logical in self.copies:
            return self._was_cached(logical, self.copies[logical])
        if logical > self.lookup.num_hits:
            return self._behind_a_miss(logical)
        return self._first_miss(logical)

    @cached_property
    def copies(self) -> dict[int, Copy]:
        """By logical block, what became of it if it was ever cached."""
        return self.history.copies(self.others.num_same_blocks, self.lookup.row)

    def _was_cached(self, logical: int, copy: Copy) -> Verdict:
        """Held back if it still is.

        A request gives its last block back first, so the head of a prefix outlives its tail, and
        behind a miss nothing is left.
        """
        if copy.lost is None:
            return self._told_by(copy.cached, logical, Reason.HELD_BACK, copy.block)
        reset = self.log.columns["kind"][copy.lost] == EventKind.RESET
        reason = Reason.FORGOTTEN if reset else Reason.EVICTED
        return self._told_by(copy.lost, logical, reason, copy.block)

    def _behind_a_miss(self, logical: int) -> Verdict:
        start = logical * self.block_size
        same = self.others.closest_has(start, start + self.block_size)
        return self._verdict(logical, Reason.PARENT, other=self.others.closest if same else None)

    def _first_miss(self, logical: int) -> Verdict:
        other, start = self.others.closest, logical * self.block_size
        if other is None or self.others.shared[other] < start:
            return self._verdict(logical, Reason.UNCACHED)
        spec, shared = self.requests[other], self.others.shared[other]
        if shared >= start + self.block_size:
            return self._verdict(logical, self._other_keys(other), other=other)
        reason = Reason.ENDS if shared >= spec.prompt.num_tokens else Reason.TOKEN
        exact = is_exact(self.requests[self.lookup.request], spec, shared)
        return self._verdict(logical, reason, other=other, token=shared, exact=exact)

    def _other_keys(self, other: int) -> Reason:
        """Why nothing is shared with a request that has the same tokens."""
        same_lora, same_salt = self.others.same_keys(other)
        if not same_lora:
            return Reason.LORA
        return Reason.UNCACHED if same_salt else Reason.SALT

    def _told_by(self, row: int, logical: int, reason: Reason, block: int) -> Verdict:
        """A verdict on a block that got its hash in a row, or lost it."""
        other = int(self.log.columns["request"][row])
        since = int(self.history.step_of(row))
        return self._verdict(
            logical, reason, block, None if other == NOBODY else other, since=since
        )

    def _verdict(
        self,
        logical: int,
        reason: Reason,
        block: int | None = None,
        other: int | None = None,
        token: int | None = None,
        since: int | None = None,
        exact: bool = True,
    ) -> Verdict:
        step, request = self.lookup.step, self.lookup.request
        return Verdict(step, request, logical, reason, block, other, token, since, exact)
