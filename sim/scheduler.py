"""Who computes how many tokens in a step, and who must give way.

Rules and their order are vLLM 0.26.0's synchronous V1 scheduler,
vllm/v1/core/sched/scheduler.py `Scheduler`.
"""

from sim.events import EventKind, FinishReason, Record
from sim.kv_cache_manager import KVCacheManager
from sim.request import Request, RequestStatus
from sim.request_queue import FCFSQueue, PriorityQueue, RequestQueue
from sim.scenario import Scenario
from sim.stop import NO_TOKEN, check_stop


class Scheduler:
    """The engine's state between steps. One step is `schedule()`, then `update_from_output()`.

    `running` is in order of admission; `scheduled` maps the step's requests to their tokens, in
    the order in which the model runner gets them. `outgrew_pool`: a request that ran alone found no
    block, so it never will; vLLM goes on recomputing it (or refusing it) for ever.
    """

    def __init__(self, scenario: Scenario, record: Record) -> None:
        self.scenario = scenario
        self.kv_cache_manager = KVCacheManager(
            scenario.num_gpu_blocks,
            scenario.block_size,
            scenario.max_model_len,
            scenario.enable_prefix_caching,
            record,
            scenario.watermark,
        )
        self.running: list[Request] = []
        self.waiting: RequestQueue = FCFSQueue() if scenario.policy == "fcfs" else PriorityQueue()
        self.scheduled: dict[Request, int] = {}
        self.has_unreported_finished = False
        self.outgrew_pool = False
        self._budget = 0
        self._record = record

    @property
    def has_requests(self) -> bool:
        """Does another step have anything to do, be it only to report who finished?"""
        return bool(self.running or len(self.waiting) or self.has_unreported_finished)

    @property
    def unfinished(self) -> tuple[Request, ...]:
        """Requests that run or wait."""
        return (*self.running, *self.waiting)

    def add_request(self, request: Request) -> None:
        """A request arrives."""
        self.waiting.add(request)
        self._record(EventKind.ARRIVE, request.index)

    def schedule(self) -> bool:
        """Choose this step's tokens: running requests first, then waiting ones.

        Says whether anybody was scheduled or preempted.
        """
        self.has_unreported_finished = False
        self.scheduled = {}
        self._budget = self.scenario.max_num_batched_tokens
        preempted = self._schedule_running()
        if not preempted:
            self._schedule_waiting()
        for request in self.running:
            tokens = self.scheduled.get(request, 0)
            if tokens != 1:
                self._record(EventKind.SCHEDULE, request.index, tokens)
            request.num_computed_tokens += tokens
        return preempted or bool(self.scheduled)

    def _schedule_running(self) -> bool:
        """Tokens for running requests, in order of admission. Was anybody preempted?"""
        preempted = False
        position = 0
        while position < len(self.running) and self._budget > 0:
            request = self.running[position]
            tokens = self._next_tokens(request)
            while tokens and self.kv_cache_manager.allocate_slots(request, tokens) is None:
                preempted = True
                victim = self._victim()
                position -= self.running.index(victim) < position
                self._preempt(victim)
                if victim is request:
                    self.outgrew_pool |= not self.running
                    return True
            if tokens:
                self.scheduled[request] = tokens
                self._budget -= tokens
            position += 1
        return preempted

    def _next_tokens(self, request: Request) -> int:
        """Tokens a running request may compute now; 0 when it has none left to compute."""
        computed = request.num_computed_tokens
        tokens = self._at_most_threshold(request.num_tokens - computed)
        return max(min(tokens, self._budget, self.scenario.max_model_len - 1 - computed), 0)

    def _at_most_threshold(self, tokens: int) -> int:
        threshold = self.scenario.long_prefill_token_threshold
        return min(tokens, threshold) if threshold > 0 else tokens

    def _victim(self) -> Request:
        """Who gives way: the last admitted, or under priority the least urgent of all running."""
        if self.scenario.policy == "fcfs":
            return self.running[-1]
        return max(self.running, key=lambda r: r.priority_key[:2])

    def _preempt(self, request: Request) -> None:
        """Take all blocks back at once; what was computed is recomputed later, outputs are kept."""
        self.running.remove(request)
        self._budget += self.scheduled.pop(request, 0)
        self.kv_cache_manager.free(request)
        request.status = RequestStatus.PREEMPTED
        request.num_computed_tokens = 0
        request.num_preemptions += 1
        self.waiting.put_back(request)
        self._record(EventKind.PREEMPT, request.index, request.num_tokens)

    def _schedule_waiting(self) -> None:
        """Admit from the head of waiting until one does not fit: nobody overtakes it."""
        while len(self.waiting) and self._budget > 0:
            if len(self.running) >= self.scenario.max_num_seqs or not self._admit_next():
                return

    def _admit_next(self) -> bool:
        request = self.waiting.peek()
        hits = self.kv_cache_manager.get_computed_blocks(request)
        hit_tokens = len(hits) * self.scenario.block_size
        tokens = self._at_most_threshold(request.num_tokens - hit_tokens)
        if tokens > self._budget and not self.scenario.enable_chunked_prefill:
            return False
        tokens = min(tokens, self._budget)
        new_blocks = self.kv_cache_manager.allocate_slots(
            request,
            tokens,
            hits,
            full_sequence_must_fit=self.scenario.scheduler_reserve_full_isl,
            has_scheduled_reqs=bool(self.running),
        )
        if new_blocks is None:
            return False
        self._admit(request, tokens, hit_tokens)
        return True

    def _admit(self, request: Request, tokens: int, hit_tokens: int) -> None:
        self.waiting.pop()
        self.running.append(request)
        resumed = request.status is RequestStatus.PREEMPTED
        request.status = RequestStatus.RUNNING
        request.num_computed_tokens = hit_tokens
        self.scheduled[request] = tokens
        self._budget -= tokens
        self._record(EventKind.ADMIT, request.index, hit_tokens, int(resumed))

    def update_from_output(self) -> int:
        """Give a token to each scheduled request that has computed all it has; free who stops.

        Returns how many tokens were given.
        """
        sampled = 0
        for request in list(self.scheduled):
            if request.status is not RequestStatus.RUNNING:
                continue
            if request.num_computed_tokens >= request.num_tokens:
                sampled += 1
                request.num_output_tokens += 1
                self._stop_if_done(request)
        self.running = [r for r in self.running if r.status is RequestStatus.RUNNING]
        return sampled

    def _stop_if_done(self, request: Request) -> None:
        stop = check_stop(self.scenario, request.spec, request.num_output_tokens)
        if stop is not None:
            self._finish(request, *stop)

    def abort(self, request: Request) -> None:
        """A request is given up, wherever it is; finished ones stay finished."""
        if request.status is RequestStatus.FINISHED:
            return
        if request.status is RequestStatus.RUNNING:
            self.running.remove(request)
        else:
            self.waiting.remove(request)
        self._finish(request, FinishReason.ABORT)

    def _finish(self, request: Request, reason: FinishReason, token: int = NO_TOKEN) -> None:
        self.kv_cache_manager.free(request)
        request.status = RequestStatus.FINISHED
        self.has_unreported_finished = True
        self._record(EventKind.FINISH, request.index, reason, token)

    def reset_prefix_cache(self, reset_running: bool) -> bool:
        """Forget every hash; with `reset_running` by preempting whoever runs, last first."""
        if reset_running:
            for request in reversed(list(self.running)):
                self._preempt(request)
        return self.kv_cache_manager.reset_prefix_cache()
