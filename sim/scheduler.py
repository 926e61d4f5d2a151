"""Who computes how many tokens in a step, and who must give way.

Rules and their order are vLLM 0.26.0's synchronous V1 scheduler,
vllm/v1/core/sched/scheduler.py `Scheduler`. vLLM looks at every running request in every step; this
one looks only at those that are not plain decoders, and at decoders when they start a block, fill
one, or end (sim/decoders.py). The decisions are the same.
"""

from sim.decoders import by_order
from sim.events import EventKind, FinishReason, LogBuilder
from sim.hazards import Hazards
from sim.kv_cache_manager import KVCacheManager
from sim.request import Request, RequestStatus
from sim.request_queue import FCFSQueue, PriorityQueue, RequestQueue
from sim.running import Running
from sim.scenario import Scenario
from sim.stop import NO_TOKEN, check_stop
from sim.token_budget import TokenBudget

# Kinds as plain numbers: a member of an enum takes ten times as long to look up.
ARRIVE, SCHEDULE, FINISH = EventKind.ARRIVE.value, EventKind.SCHEDULE.value, EventKind.FINISH.value
PREEMPT, ADMIT = EventKind.PREEMPT.value, EventKind.ADMIT.value
RUNNING, PREEMPTED = RequestStatus.RUNNING, RequestStatus.PREEMPTED


class Scheduler:
    """The engine's state between steps. One step is `schedule()`, then `update_from_output()`.

    `scheduled` are the step's tokens of those that are no decoders, in the model runner's order.
    """

    def __init__(self, scenario: Scenario, log: LogBuilder) -> None:
        self.scenario = scenario
        self.kv_cache_manager = KVCacheManager(scenario, log)
        self.running = Running(scenario.block_size)
        self.waiting: RequestQueue = FCFSQueue() if scenario.policy == "fcfs" else PriorityQueue()
        self.scheduled: dict[Request, int] = {}
        self.has_unreported_finished = False
        self._budget = TokenBudget(scenario)
        pool = self.kv_cache_manager.block_pool
        self._hazards = Hazards(pool, scenario.block_size, log)
        self._record = log.record

    @property
    def has_requests(self) -> bool:
        """Does another step have anything to do, be it only to report who finished?"""
        return bool(self.running.requests or self.waiting or self.has_unreported_finished)

    @property
    def unfinished(self) -> tuple[Request, ...]:
        """Requests that run or wait, with their token counts brought up to date."""
        self.running.write_down()
        return (*self.running.requests, *self.waiting)

    @property
    def num_unfinished(self) -> int:
        """How many run or wait."""
        return len(self.running.requests) + len(self.waiting)

    @property
    def num_scheduled(self) -> tuple[int, int]:
        """After `schedule()`: tokens of those that compute several, and who computes one."""
        tokens = self.scheduled.values()
        singles = sum(n == 1 for n in tokens)
        return sum(tokens) - singles, self.running.decoders.count + singles

    def add_request(self, request: Request) -> None:
        """A request arrives."""
        self.waiting.add(request)
        self._record(ARRIVE, request.index)

    def schedule(self) -> bool:
        """Choose this step's tokens: running requests first, then waiting ones.

        Says whether anybody was scheduled or preempted.
        """
        self.has_unreported_finished = False
        self.scheduled = {}
        preempted = self._schedule_running()
        if not preempted:
            self._schedule_waiting()
        for request in self.running.others:
            tokens = self.scheduled.get(request, 0)
            if tokens != 1:
                self._record(SCHEDULE, request.index, tokens)
            request.num_computed_tokens += tokens
        self.running.decoders.move_on()
        return preempted or bool(self.scheduled) or self.running.decoders.count > 0

    def _schedule_running(self) -> bool:
        """Tokens for running requests, in order of admission. Was anybody preempted?

        Decoders have their token off the budget at once, as it reaches all of them: the last to be
        admitted found a token left, and of those before it nobody wants more than it got then.
        """
        preempted = False
        self._budget.open(self.running.decoders.count)
        for group in self.running.groups(self.scenario.enable_prefix_caching):
            if preempted:
                group = [r for r in group if r.status is RUNNING]
            tokens = self._budget.for_running(group[0]) if group else 0
            while group:
                served = self._allocate(group, tokens)
                if served == len(group):
                    break
                preempted = True
                if not self._make_room(group[served]):
                    return True
                group = [r for r in group[served:] if r.status is RUNNING]
        return preempted

    def _allocate(self, group: list[Request], tokens: int) -> int:
        """Blocks for the tokens of each in a group; how many got theirs, from the first on."""
        request = group[0]
        if request.lead is not None:
            return self.kv_cache_manager.allocate_decodes(group, self.running.decoders)
        if tokens == 0:
            return 1
        if self.kv_cache_manager.allocate_slots(request, tokens) is None:
            return 0
        self.scheduled[request] = tokens
        self._budget.left -= tokens
        return 1

    def _make_room(self, request: Request) -> bool:
        """Preempt somebody for a request that found no block. Can it try again?"""
        victim = self.running.victim(self.scenario.policy)
        self._preempt(victim)
        if victim is not request:
            return True
        if len(self.running.requests) == 0:
            self._hazards.outgrew_pool(request)
        self.running.look_behind(request)
        return False

    def _preempt(self, request: Request) -> None:
        """Take all blocks back at once; what was computed is recomputed later, outputs are kept."""
        decoded = request.lead is not None
        self._budget.left += 1 if decoded else self.scheduled.pop(request, 0)
        self.running.leave(request)
        self._hazards.preempted(request)
        self.kv_cache_manager.free(request)
        request.status = PREEMPTED
        request.num_computed_tokens = 0
        self.waiting.put_back(request)
        self._record(PREEMPT, request.index, request.num_tokens)

    def _schedule_waiting(self) -> None:
        """Admit from the head of waiting until one does not fit: nobody overtakes it."""
        while len(self.waiting) and self._budget.left > 0:
            if len(self.running.requests) >= self.scenario.max_num_seqs or not self._admit_next():
                return

    def _admit_next(self) -> bool:
        request = self.waiting.peek()
        hits = self.kv_cache_manager.get_computed_blocks(request)
        hit_tokens = len(hits) * self.scenario.block_size
        tokens = self._budget.for_entering(request, hit_tokens)
        if tokens == 0:
            return False
        new_blocks = self.kv_cache_manager.allocate_slots(
            request,
            tokens,
            hits,
            full_sequence_must_fit=self.scenario.scheduler_reserve_full_isl,
            has_scheduled_reqs=len(self.running.requests) > 0,
        )
        if new_blocks is None:
            self._hazards.refused(request)
            return False
        self._admit(request, tokens, hit_tokens)
        return True

    def _admit(self, request: Request, tokens: int, hit_tokens: int) -> None:
        self.waiting.popleft()
        self.running.admit(request)
        resumed = request.status is PREEMPTED
        request.status = RUNNING
        request.num_computed_tokens = hit_tokens
        self.scheduled[request] = tokens
        self._budget.left -= tokens
        self._record(ADMIT, request.index, hit_tokens, int(resumed))

    def update_from_output(self) -> int:
        """Give a token to each scheduled request that has computed all it has; free who stops.

        Returns how many tokens were given.
        """
        ending = self.running.decoders.ending()
        answered = [
            request
            for request in self.scheduled
            if request.status is RUNNING and request.num_computed_tokens >= request.num_tokens
        ]
        sampled = self.running.decoders.count + len(answered)
        for request in answered:
            request.num_tokens += 1
        for request in ending:
            self.running.look_at(request)
        if ending:
            answered = sorted(answered + ending, key=by_order)
        for request in answered:
            self._go_on(request)
        return sampled

    def _go_on(self, request: Request) -> None:
        """Stop one of the others after its token, or see whether it decodes from now on."""
        if request.num_output_tokens >= request.last_output:
            stop = check_stop(self.scenario, request.spec, request.num_output_tokens)
            if stop is not None:
                self.running.leave(request)
                self._finish(request, *stop)
                return
        if request.num_tokens < self.scenario.max_model_len:
            self.running.decode(request)
        else:
            self._hazards.stands_at_max_model_len(request)

    def abort(self, request: Request) -> None:
        """A request is given up, wherever it is; finished ones stay finished."""
        if request.status is RequestStatus.FINISHED:
            return
        if request.status is RUNNING:
            self.running.leave(request)
        else:
            self.waiting.remove(request)
        self._finish(request, FinishReason.ABORT)

    def _finish(self, request: Request, reason: FinishReason, token: int = NO_TOKEN) -> None:
        self.kv_cache_manager.free(request)
        del request.prefix_ids[:]
        request.status = RequestStatus.FINISHED
        self.has_unreported_finished = True
        self._record(FINISH, request.index, reason, token)

    def reset_prefix_cache(self, reset_running: bool) -> bool:
        """Forget every hash; with `reset_running` by preempting whoever runs, last first."""
        if reset_running:
            for request in self.running.requests[::-1]:
                self._preempt(request)
        return self.kv_cache_manager.reset_prefix_cache()
