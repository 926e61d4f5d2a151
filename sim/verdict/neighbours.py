"""The requests that one can share blocks with when it asks, and how much is the same."""

from functools import cached_property

import numpy as np

from sim.columns import Column
from sim.verdict.cache_history import CacheHistory
from sim.verdict.num_tokens import num_tokens_before
from sim.verdict.shared_tokens import same_tokens, shared_tokens


class Neighbours:
    """Those that had cached a block before `row`, held against the `num_tokens` of a request then.

    The request itself is among them if it had: a preempted one finds its own blocks.
    """

    def __init__(self, history: CacheHistory, request: int, num_tokens: int, row: int) -> None:
        self.request = request
        self.num_tokens = num_tokens
        self._history = history
        self._row = row
        self._requests = history.log.scenario.requests
        self._spec = self._requests[request]

    @cached_property
    def shared(self) -> dict[int, int]:
        """Leading tokens in common with each, those who were first to cache a block first."""
        return {other: self._shared(other) for other in self._history.seen(self._row)}

    @cached_property
    def closest(self) -> int | None:
        """The other request with the most leading tokens in common.

        Of equals one with the same LoRA, then with the same salt, then the first to cache a block.
        """
        others = [other for other in self.shared if other != self.request]
        return max(others, key=lambda o: (self.shared[o], *self.same_keys(o)), default=None)

    @cached_property
    def num_same_blocks(self) -> Column:
        """Leading full blocks of each request of the run that have the same hashes, int64."""
        blocks = np.zeros(len(self._requests), np.int64)
        for other, tokens in self.shared.items():
            if all(self.same_keys(other)):
                blocks[other] = tokens // self._history.log.scenario.block_size
        return blocks

    def same_keys(self, other: int) -> tuple[bool, bool]:
        """Has another request the same LoRA, and the same salt?"""
        spec = self._requests[other]
        return spec.lora_name == self._spec.lora_name, spec.cache_salt == self._spec.cache_salt

    def closest_has(self, start: int, stop: int) -> bool:
        """Are tokens [start, stop) the closest request's as well, whatever comes before them?"""
        other = self.closest
        if other is None or not same_tokens(self._spec, self._requests[other], start, stop):
            return False
        return stop <= self._length(other, stop)

    def _shared(self, other: int) -> int:
        if other == self.request:
            return self.num_tokens
        shared = min(shared_tokens(self._spec, self._requests[other]), self.num_tokens)
        return min(shared, self._length(other, shared))

    def _length(self, other: int, needed: int) -> int:
        """Tokens that a request had; of its prompt alone where no more are needed."""
        prompt = self._requests[other].prompt.num_tokens
        return prompt if needed <= prompt else int(self._lengths[other])

    @cached_property
    def _lengths(self) -> Column:
        return num_tokens_before(self._history.log, self._row)
