"""Recordings of vLLM's Scheduler: one comparison a step, all of it read off our log."""

from typing import Any

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
from sim.event_log import EventLog
from sim.events import EventKind, FinishReason
from sim.frame import Frame
from sim.scenario import Scenario
from sim.simulate import simulate

STATE = ("running", "waiting", "free", "nfree", "usage", "ref", "hashed", "dup")


def compare(recording: Json) -> Difference | None:
    """The first difference between a recording and a run of its scenario."""
    log = simulate(Scenario.from_json(recording["scenario"]))
    steps = recording["steps"]
    comparison = _Comparison(log)
    for step, theirs in enumerate(steps[: log.num_steps]):
        difference = comparison.step(step, theirs)
        if difference:
            return difference
    ours = {"steps": log.num_steps, "stalled": log.stalled}
    end = {"steps": len(steps), "stalled": recording["stalled"]}
    return first_difference(min(log.num_steps, len(steps)), ours, end)


class _Comparison:
    """Walks a log and a recording together."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.specs = log.scenario.requests
        self.ids = [spec.id for spec in self.specs]
        self.hashes = Hashes()
        self.events = EventComparison(self.ids, log.scenario.block_size, self.hashes)
        self.first_hit: dict[int, int] = {}  # hit tokens of the last lookup before a preemption
        self.covered: dict[int, int] = {}  # tokens up to the end of the last block with a hash
        self.preempted: set[int] = set()
        self.reset_done = False  # since statistics were taken last
        self.finished: list[str] = []

    def step(self, step: int, theirs: Json) -> Difference | None:
        columns = self.log.columns
        start = int(columns["update_end"][step - 1]) if step else 0
        ends = [int(columns[f"{p}_end"][step]) for p in ("arrive", "schedule", "update")]
        rows = [self._rows(a, b) for a, b in zip([start, *ends], ends, strict=False)]
        events = [[event for row in part for event in self.events.row(*row)] for part in rows]
        for field, part in zip(("ev0", "ev", "ev2"), events, strict=True):
            difference = self.events.difference(step, field, part, theirs.get(field, []))
            if difference:
                return difference
        self._remember(rows[0] + rows[1])
        after, end = self.log.frame(step), self.log.frame(step, "update")
        ours: Json = {"i": after.engine_step, **self._arrivals(rows[0], theirs)}
        if not theirs.get("idle"):
            ours |= self._decisions(after, end, rows)
            ours["evicted"] = [event[1] for event in events[1] if event[0] == "evict"]
        finished = [self.ids[row[1]] for row in rows[2] if row[0] == EventKind.FINISH]
        self.finished = sorted(finished)
        return first_difference(step, ours, theirs) or self._states(step, after, end, theirs)

    def _rows(self, start: int, end: int) -> list[Any]:
        c = self.log.columns
        return [
            (*(int(c[name][i]) for name in ("kind", "request", "a", "b")), self._payload(i))
            for i in range(start, end)
        ]

    def _payload(self, row: int) -> list[int]:
        payload: list[int] = self.log.payload(row).tolist()
        return payload

    def _remember(self, rows: list[Any]) -> None:
        for kind, request, a, b, _ in rows:
            if kind == EventKind.LOOKUP and request not in self.preempted:
                self.first_hit[request] = b
            elif kind == EventKind.PREEMPT:
                self.preempted.add(request)
            elif kind == EventKind.ADMIT:
                self.covered[request] = max(a, self.covered.get(request, 0))
            elif kind == EventKind.CACHE:
                self.covered[request] = (a + b) * self.log.scenario.block_size
            elif kind == EventKind.RESET:
                self.reset_done |= bool(a)
            elif kind == EventKind.RELEASE:
                self.covered.pop(request, None)

    def _arrivals(self, rows: list[Any], theirs: Json) -> Json:
        arrive = [self.ids[r[1]] for r in rows if r[0] == EventKind.ARRIVE]
        resets = [bool(r[2]) for r in rows if r[0] == EventKind.RESET]
        ours: Json = {"arrive": arrive} if arrive else {}
        if resets:
            ours["reset"] = {**theirs.get("reset", {}), "ok": resets[0]}
        return ours

    def _decisions(self, after: Frame, end: Frame, rows: list[list[Any]]) -> Json:
        came = [r for r in rows[0] if r[0] == EventKind.FINISH]
        admitted = [r for r in rows[1] if r[0] == EventKind.ADMIT]
        finished = [r for r in rows[2] if r[0] == EventKind.FINISH]
        sampled = self._sampled(after)
        caching = self.log.scenario.enable_prefix_caching
        return {
            "sched": [list(entry) for entry in after.scheduled],
            "new": [self.ids[r[1]] for r in admitted if not r[3]],
            "resumed": [self.ids[r[1]] for r in admitted if r[3]],
            "preempted": [self.ids[r[1]] for r in rows[1] if r[0] == EventKind.PREEMPT],
            "hits": {self.ids[r[1]]: r[2] for r in admitted},
            "new_blocks": self._new_blocks(after, rows[1], admitted),
            "common": after.num_common_prefix_blocks if caching else 0,
            "finished_prev": sorted(self.finished + [self.ids[r[1]] for r in came]),
            "slots": after.slot_mapping.tolist(),
            "sampled": sampled,
            "finished": [_finish(self.ids, r) for r in finished if r[2] != FinishReason.ABORT],
            "prefill": self._prefill(after, sampled),
            "stats": self._stats(rows, end),
        }

    def _sampled(self, after: Frame) -> dict[str, int]:
        sampled = {}
        for request_id, _, _ in after.scheduled:
            request = after.requests[request_id]
            outputs = self.specs[self.ids.index(request_id)].output_token_ids or ()
            if request.num_computed_tokens >= request.num_tokens:
                sampled[request_id] = outputs[request.num_tokens - request.num_prompt_tokens]
        return sampled

    def _new_blocks(self, after: Frame, rows: list[Any], admitted: list[Any]) -> Json:
        whole = {self.ids[r[1]] for r in admitted}
        blocks: dict[str, list[int]] = {
            i: list(after.requests[i].block_table) for i, _, _ in after.scheduled if i in whole
        }
        for kind, request, _, _, payload in rows:
            name = self.ids[request]
            running = name in after.running and name not in whole
            if kind == EventKind.TAKE and running:
                blocks.setdefault(name, []).extend(payload)
        return blocks

    def _prefill(self, after: Frame, sampled: dict[str, int]) -> Json:
        result = {}
        for request_id in sampled:
            request, index = after.requests[request_id], self.ids.index(request_id)
            prompt, hit = request.num_prompt_tokens, self.first_hit.get(index, 0)
            if request.num_tokens == prompt:
                new = max(0, min(self.covered.get(index, 0), prompt) - hit)
                result[request_id] = [prompt, prompt - hit, hit, new]
        return result

    def _stats(self, rows: list[list[Any]], end: Frame) -> Json:
        counts = [0] * 6
        caching = self.log.scenario.enable_prefix_caching
        for kind, request, a, b, _ in rows[1]:
            reads = caching and not self.specs[request].skip_reading_prefix_cache
            if kind == EventKind.LOOKUP and reads:
                first = 3 if request in self.preempted else 0
                for offset, amount in enumerate((1, a, b)):
                    counts[first + offset] += amount
        names = ("requests", "queries", "hits", "pre_requests", "pre_queries", "pre_hits")
        return {
            **dict(zip(names, counts, strict=True)),
            "reset": self._take_reset(),
            "running": len(end.running),
            "waiting": len(end.waiting),
            "usage": end.usage,
        }

    def _take_reset(self) -> bool:
        done, self.reset_done = self.reset_done, False
        return done

    def _states(self, step: int, after: Frame, end: Frame, theirs: Json) -> Difference | None:
        recorded = {**theirs["A"], "reqs": without_ncb(theirs["A"])}
        difference = first_difference(step, self._state(after), recorded)
        if difference or "B" not in theirs:
            return difference
        change = theirs["B"]
        requests = {**recorded["reqs"], **without_ncb({"reqs": change.get("reqs", {})})}
        for gone in change.get("gone", ()):
            requests.pop(gone, None)
        kept = {key: change[key] for key in STATE if key in change}
        return first_difference(step, self._state(end), {**recorded, **kept, "reqs": requests})

    def _state(self, frame: Frame) -> Json:
        requests = {
            r.request_id: request_state(
                r.status, r.num_computed_tokens, r.num_tokens, r.num_preemptions, r.block_table
            )
            for r in frame.requests.values()
        }
        lists = {"running": list(frame.running), "waiting": list(frame.waiting)}
        return {**lists, "reqs": requests, **pool_state(frame, self.hashes)}


def _finish(ids: list[str], row: Any) -> list[Any]:
    reason = "stop" if row[2] == FinishReason.STOP else "length"
    return [ids[row[1]], reason, None if row[3] < 0 else row[3]]
