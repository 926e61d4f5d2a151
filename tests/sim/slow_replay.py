"""The states of a log with nothing but dicts and lists: slow, and easy to believe."""

from sim.events import EventKind
from sim.scenario import Scenario


class SlowReplay:
    """Takes in a log from its first row on; `state` is where it stands."""

    def __init__(self, scenario: Scenario, columns) -> None:
        self.scenario = scenario
        self.columns = {name: column.tolist() for name, column in columns.items()}
        self.start = [0, *self.columns["payload_end"]]
        self.requests = {}  # index -> what a RequestFrame says of it
        self.running, self.waiting = [], []
        self.queue = list(range(1, scenario.num_gpu_blocks))
        self.prefix = {}  # block -> prefix id, oldest hash first
        self.now = {}
        self.row = 0

    def phases(self):
        """(step, phase, state) of every phase of every step, in order."""
        for step, end in enumerate(self.columns["schedule_end"]):
            self.now = {}
            self._read_to(end)
            for index in self.running:
                self.requests[index]["computed"] += self.now.setdefault(index, 1)
            yield step, "schedule", self.state(step)
            self._read_to(self.columns["update_end"][step])
            for request in map(self.requests.get, self.running):
                if request["computed"] == request["tokens"]:
                    request["tokens"] += 1
            yield step, "update", self.state(step)

    def _read_to(self, end):
        for row in range(self.row, end):
            kind, request, a, b = (self.columns[c][row] for c in ("kind", "request", "a", "b"))
            payload = self.columns["payload"][self.start[row] : self.start[row + 1]]
            self._take_in(kind, request, a, b, payload)
        self.row = end

    def _take_in(self, kind, index, a, b, blocks):
        request = self.requests.get(index)
        match kind:
            case EventKind.ARRIVE:
                tokens = self.scenario.requests[index].prompt.num_tokens
                new = {"computed": 0, "tokens": tokens, "preemptions": 0, "table": []}
                self.requests[index] = new
                self.waiting.append(index)
            case EventKind.TOUCH | EventKind.TAKE:
                self.queue = [block for block in self.queue if block not in blocks]
                request["table"] += blocks
                hashed = [block for block in blocks if block in self.prefix]
                assert len(hashed) == (a if kind == EventKind.TAKE else len(blocks))
                if kind == EventKind.TAKE:
                    self._forget(hashed)
            case EventKind.EVICT:
                self._forget(blocks)
            case EventKind.CACHE:
                for block, prefix in zip(blocks[:b], blocks[b:], strict=True):
                    self.prefix.pop(block, None)
                    self.prefix[block] = prefix
            case EventKind.RELEASE:
                self.queue = [*blocks[:a], *self.queue, *blocks[a : a + b]]
                request["table"] = []
            case EventKind.PREEMPT:
                self.running.remove(index)
                self.waiting.insert(0, index)
                request.update(computed=0, tokens=a, preemptions=request["preemptions"] + 1)
            case EventKind.ADMIT:
                self.waiting.remove(index)
                self.running.append(index)
                request["computed"] = a
            case EventKind.SCHEDULE:
                self.now[index] = a
            case EventKind.FINISH:
                del self.requests[index]
                for who in (self.running, self.waiting):
                    if index in who:
                        who.remove(index)
            case EventKind.RESET if a:
                self.prefix = {}

    def _forget(self, blocks):
        for block in blocks:
            del self.prefix[block]

    def state(self, step):
        """What a frame says, as plain values."""
        scenario, requests = self.scenario, self.requests
        name = [spec.id for spec in scenario.requests]
        waiting = self.waiting
        if scenario.policy == "priority":
            waiting = sorted(waiting, key=scenario.priority_key)
        tables = [block for request in requests.values() for block in request["table"]]
        return {
            "step": step,
            "engine_step": self.columns["engine_step"][step],
            "running": [name[i] for i in self.running],
            "waiting": [name[i] for i in waiting],
            "requests": [
                (
                    name[i],
                    self._status(i),
                    r["computed"],
                    r["tokens"],
                    scenario.requests[i].prompt.num_tokens,
                    r["preemptions"],
                    tuple(r["table"]),
                )
                for i, r in sorted(requests.items())
            ],
            "scheduled": [
                (name[i], self.now[i], requests[i]["computed"] - self.now[i])
                for i in self.running
                if self.now[i]
            ],
            "ref_cnt": [tables.count(block) for block in range(scenario.num_gpu_blocks)],
            "free_queue": list(self.queue),
            "prefix": dict(self.prefix),
            "oldest first": list(self.prefix),
            "fill": [self._fill(block) for block in range(scenario.num_gpu_blocks)],
        }

    def _status(self, index):
        if index in self.running:
            return "RUNNING"
        return "PREEMPTED" if self.requests[index]["preemptions"] else "WAITING"

    def _fill(self, block):
        size = self.scenario.block_size
        held = [
            min(max(request["computed"] - place * size, 0), size)
            for request in self.requests.values()
            for place, other in enumerate(request["table"])
            if other == block
        ]
        return size if block in self.prefix else max(held, default=0)


def frame_state(frame):
    """A frame in the words of `SlowReplay.state`."""
    prefix, dated = (
        {block: int(value) for block, value in enumerate(column) if value != -1}
        for column in (frame.prefix_id, frame.cached_order)
    )
    return {
        "step": frame.step,
        "engine_step": frame.engine_step,
        "running": list(frame.running),
        "waiting": list(frame.waiting),
        "requests": [
            (
                name,
                r.status,
                r.num_computed_tokens,
                r.num_tokens,
                r.num_prompt_tokens,
                r.num_preemptions,
                r.block_table,
            )
            for name, r in frame.requests.items()
        ],
        "scheduled": list(frame.scheduled),
        "ref_cnt": frame.ref_cnt.tolist(),
        "free_queue": frame.free_queue.tolist(),
        "prefix": prefix,
        "oldest first": sorted(dated, key=dated.get),
        "fill": frame.fill.tolist(),
    }
