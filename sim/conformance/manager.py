"""Recordings of vLLM's KVCacheManager alone: one comparison a call."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sim.conformance.recording import (
    Difference,
    EventComparison,
    Hashes,
    Json,
    first_difference,
    pool_state,
    request_state,
    without_ncb,
)
from sim.events import EventKind, LogBuilder
from sim.frame import Frame, common_prefix_blocks
from sim.kv_cache_manager import KVCacheManager
from sim.request import Request, RequestStatus
from sim.scenario import Scenario


def compare(recording: Json) -> Difference | None:
    """The first call whose result, events or state differ."""
    driver = _Driver(recording["scenario"])
    for theirs in recording["steps"]:
        difference = driver.compare(theirs)
        if difference:
            return difference
    return None


class _Calls(LogBuilder):
    """The rows of one call, and since when blocks hold their hash."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Any] = []
        self.cached_order: dict[int, int] = {}
        self._num_cached = 0

    def record(
        self, kind: int, request: int, a: int = 0, b: int = 0, payload: Sequence[int] = ()
    ) -> None:
        self.calls.append((kind, request, a, b, list(payload)))
        if kind == EventKind.CACHE:
            for block_id in payload[:b]:
                self._num_cached += 1
                self.cached_order[block_id] = self._num_cached


class _Driver:
    """Our KVCacheManager, called as the recording says."""

    def __init__(self, scenario: Json) -> None:
        requests = [{"arrival_step": 0, **spec} for spec in scenario["requests"]]
        self.scenario = Scenario.from_json({**scenario, "requests": requests})
        self.ids = [spec.id for spec in self.scenario.requests]
        self.log = _Calls()
        self.manager = KVCacheManager(self.scenario, self.log)
        self.hashes = Hashes()
        self.events = EventComparison(self.ids, self.scenario.block_size, self.hashes)
        self.requests: dict[str, Request] = {}
        self.hits: dict[str, list[int]] = {}
        self.preemptions: Counter[str] = Counter()
        self.stats: list[Any] = [0, 0, 0, 0, 0, 0, False]

    def compare(self, theirs: Json) -> Difference | None:
        self.log.calls.clear()
        name, *arguments = theirs["op"]
        result = getattr(self, f"_{name}")(*arguments)
        step = theirs["i"]
        ours = [event for row in self.log.calls for event in self.events.row(*row)]
        return (
            first_difference(step, {"res": result}, theirs)
            or self.events.difference(step, "ev", ours, theirs["ev"])
            or first_difference(
                step, self._state(), {**theirs["A"], "reqs": without_ncb(theirs["A"])}
            )
        )

    def _new(self, request_id: str) -> None:
        index = self.ids.index(request_id)
        spec = self.scenario.requests[index]
        spec = replace(spec, output_token_ids=())
        self.requests[request_id] = Request(index, spec, (0, 0.0, request_id), spec.max_tokens)

    def _lookup(self, request_id: str) -> list[Any]:
        request = self.requests[request_id]
        hits = self.hits[request_id] = self.manager.get_computed_blocks(request)
        tokens = len(hits) * self.scenario.block_size
        if self.scenario.enable_prefix_caching and not request.spec.skip_reading_prefix_cache:
            first = 3 if self.preemptions[request_id] else 0
            for offset, amount in enumerate((1, request.num_tokens, tokens)):
                self.stats[first + offset] += amount
        return [tokens, hits]

    def _alloc(self, request_id: str, tokens: int, options: Json | None = None) -> Any:
        request, options = self.requests[request_id], dict(options or {})
        use_hit = options.pop("use_hit", False)
        hits = self.hits.get(request_id, []) if use_hit else []
        try:
            blocks = self.manager.allocate_slots(request, tokens, hits, **options)
        except ValueError:
            return ["error", "ValueError"]
        if blocks is not None:
            computed = 0 if use_hit else request.num_computed_tokens
            request.num_computed_tokens = computed + len(hits) * self.scenario.block_size + tokens
            request.status = RequestStatus.RUNNING
        return blocks

    def _append(self, request_id: str, tokens: list[int]) -> None:
        request = self.requests[request_id]
        outputs = (*(request.spec.output_token_ids or ()), *tokens)
        request.spec = replace(request.spec, output_token_ids=outputs)
        request.num_tokens += len(tokens)

    def _set_computed(self, request_id: str, tokens: int) -> None:
        self.requests[request_id].num_computed_tokens = tokens

    def _cache(self, request_id: str, tokens: int) -> None:
        self.manager.cache_blocks(self.requests[request_id], tokens)

    def _free(self, request_id: str) -> None:
        self.manager.free(self.requests.pop(request_id))

    def _preempt(self, request_id: str) -> None:
        request = self.requests[request_id]
        self.manager.free(request)
        request.num_computed_tokens = 0
        request.status = RequestStatus.PREEMPTED
        self.preemptions[request_id] += 1

    def _evict(self, blocks: list[int]) -> None:
        for block_id in blocks:
            self.manager.block_pool.evict_blocks([block_id])

    def _reset(self) -> bool:
        done = self.manager.reset_prefix_cache()
        self.stats[6] |= done
        return done

    def _common(self, request_id: str) -> int:
        holders = sum(bool(request.block_table) for request in self.requests.values())
        ref_cnt = np.array(self.manager.block_pool.ref_cnt)
        return common_prefix_blocks(self.requests[request_id].block_table, ref_cnt, holders)

    def _stats(self) -> list[Any]:
        stats, self.stats = self.stats, [0, 0, 0, 0, 0, 0, False]
        return stats

    def _state(self) -> Json:
        requests = {
            name: request_state(
                r.status.value,
                r.num_computed_tokens,
                r.num_tokens,
                self.preemptions[name],
                r.block_table,
            )
            for name, r in self.requests.items()
        }
        return {"reqs": requests, **pool_state(self._frame(), self.hashes)}

    def _frame(self) -> Frame:
        pool = self.manager.block_pool
        n, prefix_of = pool.num_blocks, pool.prefix_of
        return Frame(
            step=0,
            engine_step=0,
            block_size=self.scenario.block_size,
            running=(),
            waiting=(),
            requests={},
            scheduled=(),
            ref_cnt=np.array(pool.ref_cnt),
            free_queue=np.array(list(pool.free_block_queue), np.int32),
            prefix_id=np.array([prefix_of.get(b, -1) for b in range(n)], np.int32),
            cached_order=np.array([self.log.cached_order.get(b, -1) for b in range(n)], np.int64),
            fill=np.zeros(n, np.int32),
        )
