"""The verdicts of any run, against an oracle that finds them the slow and obvious way.

Every token of every request is spelt out, a prefix is the tuple of all its tokens, and what was
cached is a list that is searched from end to end.
"""

from dataclasses import dataclass, replace
from itertools import takewhile

from hypothesis import given, settings
from hypothesis import strategies as st

from sim.events import EventKind, FinishReason
from sim.prompt import HashedPrompt, TokenPrompt
from sim.simulate import simulate
from sim.verdict import Reason, Verdict, lookups
from tests.sim.strategies import TOKENS, scenarios

ABORTED = (EventKind.FINISH, FinishReason.ABORT)


@dataclass
class Cached:
    prefix: tuple
    block: int
    request: int
    step: int
    lost: tuple | None = None  # row, reason, taker, step


class Oracle:
    def __init__(self, log):
        self.log = log
        self.scenario = log.scenario
        self.size = log.scenario.block_size
        self.requests = log.scenario.requests
        self.tokens = [spelt_out(index, spec) for index, spec in enumerate(self.requests)]
        self.num_tokens = [spec.prompt.num_tokens for spec in self.requests]
        self.computed = {}  # of running requests
        self.cached = []
        self.told = []  # the verdicts of each admission
        self.walk()

    def walk(self):
        start = 0
        ends = [self.log.columns[name].tolist() for name in ("schedule_end", "update_end")]
        for step, (schedule_end, update_end) in enumerate(zip(*ends, strict=True)):
            scheduled = {}
            for row in range(start, schedule_end):
                self.take_in(step, row, scheduled)
            for request in self.computed:
                self.computed[request] += scheduled.get(request, 1)
            rows = range(schedule_end, update_end)
            aborted = {r for k, r, a, *_ in map(self.row, rows) if (k, a) == ABORTED}
            for request, computed in self.computed.items():
                if computed >= self.num_tokens[request] and request not in aborted:
                    self.num_tokens[request] += 1
            for row in rows:
                self.take_in(step, row, scheduled)
            start = update_end

    def row(self, row):
        names = ("kind", "request", "a", "b")
        return (*(int(self.log.columns[n][row]) for n in names), self.log.payload(row).tolist())

    def take_in(self, step, row, scheduled):
        kind, request, a, b, payload = self.row(row)
        if kind == EventKind.LOOKUP:
            self.found = self.verdicts(step, request, a)
        elif kind == EventKind.ADMIT:
            self.told.append(self.found)
            self.computed[request] = a
        elif kind in (EventKind.PREEMPT, EventKind.FINISH):
            self.computed.pop(request, None)
        elif kind == EventKind.SCHEDULE:
            scheduled[request] = a
        elif kind == EventKind.CACHE:
            for logical, block in enumerate(payload[:b], a):
                self.cached.append(Cached(self.prefix(request, logical), block, request, step))
        elif kind == EventKind.TAKE:
            self.lose(payload, (row, Reason.EVICTED, request, step))
        elif kind == EventKind.RESET and a:
            self.lose(range(self.scenario.num_gpu_blocks), (row, Reason.FORGOTTEN, None, step))

    def lose(self, blocks, how):
        for cached in self.cached:
            if cached.lost is None and cached.block in blocks:
                cached.lost = how

    def prefix(self, request, logical):
        spec = self.requests[request]
        tokens = self.tokens[request][: (logical + 1) * self.size]
        return (spec.lora_name, spec.cache_salt, tuple(tokens))

    def verdicts(self, step, request, num_tokens):
        told = []
        for logical in range(num_tokens // self.size):
            hits = all(v.reason is Reason.HIT for v in told)
            told.append(
                Verdict(step, request, logical, **self.verdict(request, logical, num_tokens, hits))
            )
        if num_tokens % self.size:
            last = num_tokens // self.size
            told.append(Verdict(step, request, last, Reason.NOT_FULL, token=num_tokens))
        return tuple(told)

    def verdict(self, request, logical, num_tokens, hits_so_far):
        if not self.scenario.enable_prefix_caching:
            return {"reason": Reason.CACHING_OFF}
        if self.requests[request].skip_reading_prefix_cache:
            return {"reason": Reason.NOT_READ}
        if not self.cached:
            return {"reason": Reason.FIRST}
        same = [c for c in self.cached if c.prefix == self.prefix(request, logical)]
        there = [c for c in same if c.lost is None]
        assert hits_so_far or not there, "the tail of a prefix outlived its head"
        if there:
            held_back = (logical + 1) * self.size == num_tokens
            reason = Reason.HELD_BACK if held_back else Reason.HIT
            oldest = there[0]
            return told(reason, block=oldest.block, other=oldest.request, since=oldest.step)
        if same:
            last = max(same, key=lambda c: c.lost[0])
            _, reason, taker, since = last.lost
            return told(reason, block=last.block, other=taker, since=since)
        return self.never_cached(request, logical, num_tokens, hits_so_far)

    def never_cached(self, request, logical, num_tokens, first_miss):
        start, stop = logical * self.size, (logical + 1) * self.size
        mine = self.tokens[request][:num_tokens]
        spec = self.requests[request]
        others = [c.request for c in self.cached if c.request != request]

        def theirs(other):
            return self.tokens[other][: self.num_tokens[other]]

        def common(other):
            pairs = zip(mine, theirs(other), strict=False)
            return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))

        def same_keys(other):
            keys = self.requests[other].lora_name, self.requests[other].cache_salt
            return keys[0] == spec.lora_name, keys[1] == spec.cache_salt

        other = max(others, key=lambda o: (common(o), *same_keys(o)), default=None)
        if not first_miss:
            same = other is not None and mine[start:stop] == theirs(other)[start:stop]
            return told(Reason.PARENT, other=other if same else None)
        if other is None or common(other) < start:
            return told(Reason.UNCACHED)
        if common(other) >= stop:
            reason = {(True, True): Reason.UNCACHED, (True, False): Reason.SALT}
            return told(reason.get(same_keys(other), Reason.LORA), other=other)
        token, prompts = common(other), [spec.prompt, self.requests[other].prompt]
        ends = token >= prompts[1].num_tokens
        in_ids = any(isinstance(p, HashedPrompt) for p in prompts)
        exact = not in_ids or any(token >= p.num_tokens for p in prompts)
        reason = Reason.ENDS if ends else Reason.TOKEN
        return told(reason, other=other, token=token, exact=exact)


def told(reason, **found):
    return {"reason": reason, **found}


def spelt_out(index, spec):
    """All tokens of a request as values that are equal exactly when the tokens are.

    Behind a prompt of ids no token is one of a prompt of tokens.
    """
    prompt, answer = spec.prompt, spec.output_token_ids
    if answer is None:
        answer = [("new", index, k) for k in range(99)]
    if isinstance(prompt, HashedPrompt):
        size = prompt.hash_block_size
        tokens = [(prompt.hash_ids[p // size], p % size) for p in range(prompt.num_tokens)]
        return tokens + [("behind ids", token) for token in answer]
    return [*prompt.token_ids, *answer]


def admissions(log):
    """(request, tokens asked, tokens hit) of each, with the lookup before it."""
    columns = log.columns
    asked = {}
    for kind, request, a in zip(
        *(columns[name].tolist() for name in ("kind", "request", "a")), strict=True
    ):
        if kind == EventKind.LOOKUP:
            asked[request] = a
        elif kind == EventKind.ADMIT:
            yield request, asked[request], a


@st.composite
def runs(draw):
    """Random scenarios in which most prompts begin alike.

    Some requests have a trace's ids, and some an answer that nobody knows.
    """
    scenario = draw(scenarios())
    size, beginning = draw(st.integers(1, 5)), draw(st.lists(TOKENS, min_size=14, max_size=14))

    def prompt(own):
        alike = tuple(beginning[: draw(st.sampled_from([0, 6, 9, 14]))])
        if draw(st.sampled_from(["tokens", "ids"])) == "tokens":
            return TokenPrompt((alike + own.token_ids)[:14])
        ids = (alike + own.token_ids)[: draw(st.integers(1, 4))]
        return HashedPrompt(ids, size, len(ids) * size - draw(st.integers(0, size - 1)))

    def request(spec):
        answer = draw(st.sampled_from([spec.output_token_ids, None]))
        plain = draw(st.sampled_from([{"cache_salt": None, "lora_name": None}, {}]))
        return replace(spec, prompt=prompt(spec.prompt), output_token_ids=answer, **plain)

    return replace(
        scenario,
        enable_prefix_caching=draw(st.sampled_from([True, True, True, False])),
        requests=tuple(request(spec) for spec in scenario.requests),
    )


@settings(max_examples=40, deadline=None)
@given(runs())
def test_as_many_blocks_hit_as_the_engine_counted(scenario):
    log, size = simulate(scenario), scenario.block_size
    found = lookups(log)
    counted = [(f.request, f.num_tokens, f.num_hits * size) for f in found]
    assert counted == list(admissions(log))
    hits = [sum(v.reason is Reason.HIT for v in lookup.verdicts) for lookup in found]
    assert hits == [lookup.num_hits for lookup in found]


@settings(max_examples=150, deadline=None)
@given(runs())
def test_every_verdict_is_the_one_that_plain_contents_give(scenario):
    log = simulate(scenario)
    assert [lookup.verdicts for lookup in lookups(log)] == Oracle(log).told
