"""The scheduler as a plain loop: no cache, no block ids, every request looked at in every step.

It shares no code with the engine, and writes what it does as a recording of a vLLM run.
"""

import json

import numpy as np

COLUMNS = "t,prompt_throughput,gen_throughput,running,waiting,kv_cache_pct"


class Served:
    """A request of the plain loop."""

    def __init__(self, row):
        self.row, self.tokens, self.computed = row, row.input_length, 0
        self.times = {
            "request_id": f"r{row.line}",
            "input_toks": row.input_length,
            "output_toks": row.output_length,
        }

    def more_blocks(self, tokens):
        return -(-(self.computed + tokens) // 16) - -(-self.computed // 16)

    def note(self, name, ms):
        self.times.setdefault(name, ms / 1000)


class PlainLoop:
    """First come first served; the last admitted gives way and starts again. Counts only."""

    def __init__(self, rows, step_time, num_gpu_blocks, budget):
        self.everyone = [Served(row) for row in rows]
        self.coming, self.waiting, self.running = list(self.everyone), [], []
        self.step_time, self.usable = step_time, num_gpu_blocks - 1
        self.budget = budget
        self.now = self.prompts = self.outputs = 0
        self.lines = [(0, 0, 0, 0, 0, 0)]

    @property
    def free(self):
        return self.usable - sum(-(-r.computed // 16) for r in self.running)

    def run(self):
        """All requests; the time series as CSV, and the requests as JSON lines."""
        while self.coming or self.waiting or self.running:
            then, load = self.now, self.load()
            self.arrive()
            step = self.schedule()
            decodes = sum(tokens == 1 for tokens in step.values())
            self.now += self.step_time.ticks(sum(step.values()) - decodes, decodes)
            for t in range(max(1, -(-then // 1000)), -(-self.now // 1000)):
                self.lines.append((t, *load))
            self.sample(step)
        self.lines.append((-(-self.now // 1000), *self.load()))
        return self.csv(), b"\n".join(json.dumps(r.times).encode() for r in self.everyone)

    def load(self):
        used = 100 * (1 - self.free / self.usable)
        return self.prompts, self.outputs, len(self.running), len(self.waiting), used

    def arrive(self):
        if not self.waiting and not self.running:
            self.now = max(self.now, int(self.coming[0].row.timestamp_ms))
        while self.coming and self.coming[0].row.timestamp_ms <= self.now:
            self.waiting.append(self.coming.pop(0))
            self.waiting[-1].note("arrival_time", self.now)
            self.waiting[-1].note("queued_ts", self.now)

    def schedule(self):
        step, room, preempted = {}, self.budget, False
        for r in list(self.running):
            tokens = min(r.tokens - r.computed, room)
            while r in self.running and r.more_blocks(tokens) > self.free:
                preempted = True
                self.waiting.insert(0, self.running.pop())
                self.waiting[0].computed = 0
            if r in self.running and tokens:
                step[r] = tokens
                r.computed += tokens
                room -= tokens
        while self.waiting and room and not preempted:
            r = self.waiting[0]
            if r.more_blocks(r.tokens) > self.free:
                break
            self.running.append(self.waiting.pop(0))
            r.note("scheduled_ts", self.now)
            step[r] = r.computed = min(r.tokens, room)
            room -= r.computed
        return step

    def sample(self, step):
        for r in step:
            if r.computed == r.tokens:
                if r.tokens == r.row.input_length:
                    r.note("first_token_ts", self.now)
                    self.prompts += r.tokens
                r.tokens += 1
                self.outputs += 1
            if r.tokens == r.row.input_length + r.row.output_length:
                r.note("last_token_ts", self.now)
                self.running.remove(r)

    def csv(self):
        totals = np.array(self.lines)
        lines = np.column_stack([totals[1:, 0], np.diff(totals[:, 1:3], axis=0), totals[1:, 3:]])
        return "\n".join([COLUMNS, *(",".join(map(repr, row)) for row in lines.tolist())]).encode()
