"""A step of the Pressure page as HTML: the sentence that leads, and what happened in order."""

from pages.figures.pressure_words import in_order, lead
from pages.figures.words import many
from pages.ui.moment import Moment
from sim.giving_way import giving_way

MOST = 3  # preemptions of a step that are told one by one


def lead_of(now: Moment) -> str:
    """The sentences of the step's preemptions, or when the next one is."""
    found, scenario = now.preempted, now.run.log.scenario
    told = [lead(p, scenario, now.chip) for p in found[:MOST]] or [_calm(now)]
    if len(found) > MOST:
        told.append(f"And {len(found) - MOST:,} more lose their place.")
    total = many(len(now.run.preemptions), "preemption")
    return (
        f'<div class="pressure-lead" role="status"><p><b>Step {now.step:,}.</b> {" ".join(told)}'
        f"</p><small>{total} in this run</small></div>"
    )


def lines_of(now: Moment) -> str:
    """What happened in the step, numbered."""
    log, found = now.run.log, now.preempted[:MOST]
    ways = [in_order(p, giving_way(log, p), log.scenario, now.chip) for p in found]
    lines = [line for way in ways for line in way] or _counted(now)
    items = "".join(f"<li>{line}</li>" for line in lines)
    return f'<div class="pressure-step"><strong>In this step</strong><ol>{items}</ol></div>'


def _counted(now: Moment) -> list[str]:
    """A step without a preemption, in numbers."""
    c, step = now.run.columns, now.step
    lost = int(c.preempted_waiting[step])
    waiting = f"<b>{c.waiting[step]:,}</b> wait" + (f", {lost:,} of them preempted" if lost else "")
    told = (
        (c.finishes, "{} finished since the step before.", "request"),
        (c.evictions, "{} lost an old hash to somebody new.", "block"),
        (c.recomputed, "{} to compute a second time.", "token"),
    )
    return [
        f"<b>{many(int(c.running[step]), 'request')}</b> run, {waiting}.",
        *(words.format(many(int(count[step]), noun)) for count, words, noun in told if count[step]),
    ]


def _calm(now: Moment) -> str:
    target = now.next(now.run.columns.preemptions)
    if target is not None:
        return f"Nobody loses its place in this step; the next preemption is in step {target:,}."
    if not now.run.preemptions:
        return "Nobody loses its place in this run: fewer blocks or longer outputs would do it."
    last = now.run.preemptions[-1].step
    return f"Nobody loses its place any more; the last preemption was in step {last:,}."
