"""Both free orders beside each other: who holds which blocks, and what is free, head first."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pages.figures.prefix_html import chip, chips, name
from sim.event_log import EventLog
from sim.events import EventKind
from sim.frame import Frame
from sim.scenario import Version

Held = Callable[[Version, int], str]  # at_step of a version's log, by version and step

OLD_AND_NEW: tuple[Version, Version] = ("before 0.26", "0.26.0")


def free_orders(rows: Mapping[str, int], now: int, held: Held) -> str:
    """A row for each named step, the one of step `now` marked; a column for each version."""
    head = "".join(f"<th>{version}</th>" for version in OLD_AND_NEW)
    body = "".join(
        f"<tr{' class=now' if step == now else ''}><th>{label}</th>"
        + "".join(f"<td>{held(version, step)}</td>" for version in OLD_AND_NEW)
        + "</tr>"
        for label, step in rows.items()
    )
    return f'<table class="free-orders"><tr><th></th>{head}</tr>{body}</table>'


def differ(logs: Mapping[Version, EventLog]) -> str:
    """What the free order changes in the whole run, in a sentence or two."""
    old, new = (logs[version] for version in OLD_AND_NEW)
    if _same_blocks(old, new):
        told = "In this run both orders hand out the same blocks."
    else:
        told = f"In this run they hand out different blocks: {_lost(old, new)}."
    return f"{told} A hatched block still has its hash; the first free block is taken next."


def _lost(old: EventLog, new: EventLog) -> str:
    if not _num_lost(old) and not _num_lost(new):
        return "no hash is dropped in either"
    return f"{_hashes(old)} dropped before 0.26, {_hashes(new)} in 0.26.0"


def _same_blocks(old: EventLog, new: EventLog) -> bool:
    return all(np.array_equal(old.columns[name], new.columns[name]) for name in old.columns)


def _hashes(log: EventLog) -> str:
    lost = _num_lost(log)
    return "1 hash is" if lost == 1 else f"{lost} hashes are"


def _num_lost(log: EventLog) -> int:
    """How many hashes were lost as their blocks were taken."""
    takes = log.columns["kind"] == EventKind.TAKE
    return int(log.columns["a"][takes].sum())


def at_step(log: EventLog, step: int) -> str:
    """The tables of who holds blocks at a step, then the free queue."""
    if step >= log.num_steps:
        return "ended before"
    frame = log.frame(step)
    return _tables(log, frame) + _free(frame)


def _tables(log: EventLog, frame: Frame) -> str:
    """Each table in a row; a block that is shared has the colour of its first holder."""
    index = {spec.id: r for r, spec in enumerate(log.scenario.requests)}
    owners = frame.owners

    def mark(block: int) -> str:
        held_by = owners[block]
        state = "shared" if len(held_by) > 1 else "held"
        return chip(block, state, index[held_by[0]], f"held by {', '.join(held_by)}")

    tables = {id: request.block_table for id, request in frame.requests.items()}
    return "".join(
        chips([name(id, index[id]), *map(mark, table)]) for id, table in tables.items() if table
    )


def _free(frame: Frame) -> str:
    queue: Sequence[int] = frame.free_queue.tolist()
    marks = [chip(b, "cached" if frame.prefix_id[b] >= 0 else "free") for b in queue]
    return chips(["<i>free</i>", *(marks or ["<i>none</i>"])])
