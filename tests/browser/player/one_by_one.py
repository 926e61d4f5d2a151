"""A log's rows applied one by one, as plainly as can be: what a player shows after each event."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sim.event_log import EventLog
from sim.events import EventKind as K

Row = tuple[int, int, int, int, Sequence[int]]


@dataclass
class Pool:
    """Ref counts, the free queue from its head, and who holds a hash."""

    num_blocks: int
    ref: list[int] = field(init=False)
    queue: list[int] = field(init=False)
    hashed: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.ref = [0] * self.num_blocks
        self.queue = list(range(1, self.num_blocks))

    def apply(self, row: Row) -> dict[str, list[int]]:
        """What the row takes and evicts."""
        kind, _, a, b, blocks = row
        lost = [block for block in blocks if block in self.hashed]
        if kind in (K.TOUCH, K.TAKE):
            for block in blocks:
                if self.ref[block] == 0:
                    self.queue.remove(block)
                self.ref[block] += 1
        if kind == K.RELEASE:
            for block in blocks:
                self.ref[block] -= 1
            self.queue = [*blocks[:a], *self.queue, *blocks[a : a + b]]
        if kind == K.CACHE:
            self.hashed |= set(blocks[:b])
        if kind not in (K.TAKE, K.EVICT):
            return {"taken": [], "evicted": []}
        self.hashed -= set(blocks)
        return {"taken": list(blocks) if kind == K.TAKE else [], "evicted": lost}


def after_each_event(steps: list[list[Row]], num_blocks: int) -> Iterator[dict[str, object]]:
    """What is to be read after each event of each step; the last event is the model's run."""
    pool = Pool(num_blocks)
    for step, rows in enumerate(steps):
        for event in range(1, len(rows) + 2):
            marks = pool.apply(rows[event - 1]) if event <= len(rows) else Pool(1).apply(NOTHING)
            place = {"step": step, "event": event}
            yield {**place, **marks, "ref": [*pool.ref], "freeQueue": [*pool.queue]}


NOTHING: Row = (K.SCHEDULE, 0, 0, 0, [])


def rows_by_step(log: EventLog) -> list[list[Row]]:
    """The rows before each step's state, as the player counts them."""
    columns = log.columns
    names = ("kind", "request", "a", "b")
    numbers = zip(*(columns[name].tolist() for name in names), strict=True)
    rows = [(*row, log.payload(i).tolist()) for i, row in enumerate(numbers)]
    ends = columns["schedule_end"].tolist()
    return [rows[start:end] for start, end in zip([0, *ends], ends, strict=False)]
