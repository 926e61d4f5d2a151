"""The preemptions of a step in words: one sentence that leads, and then what happened in order.

Names are chips in the owner's hue, as in the player; classes are pressure.css's.
"""

from dataclasses import dataclass
from html import escape

from pages.figures.palette import Theme
from pages.figures.words import many
from sim.giving_way import Blocks, GivingWay
from sim.preemptions import Preemption
from sim.scenario import Scenario

MOST_IDS = 12  # of blocks, in a line


@dataclass(frozen=True, slots=True)
class Chips:
    """Names of requests in the colours of a step: `hues` by id."""

    hues: dict[str, int]
    theme: Theme

    def __call__(self, request_id: str) -> str:
        """The chip of a request."""
        hue = self.hues.get(request_id)
        owner = self.theme.rest if hue is None else self.theme.owners[hue]
        style = f"background: {owner.tint}; border-color: {owner.edge}"
        return f'<b class="pressure-chip" style="{style}">{escape(request_id)}</b>'


def lead(found: Preemption, scenario: Scenario, chip: Chips) -> str:
    """Who lost what to whom, and what was left of it."""
    dropped = f"<b>{many(found.computed, 'computed token')} dropped</b>{_survived(found, scenario)}"
    victim = chip(found.victim)
    if found.asker is None:
        return f"The prefix cache is reset, so {victim} loses its place: {dropped}."
    asker = f"Pool full. {chip(found.asker)} lacks {many(found.missing, 'block')}"
    if found.asker == found.victim:
        return f"{asker} and gives way to itself: {dropped}."
    return f"{asker}, so {victim} loses its place: {dropped}."


def _survived(found: Preemption, scenario: Scenario) -> str:
    if found.resumed is None or not scenario.enable_prefix_caching:
        return ""
    kept = min(found.hits, found.computed)
    return f", {kept:,} of them still cached when it comes back"


def in_order(found: Preemption, way: GivingWay, scenario: Scenario, chip: Chips) -> list[str]:
    """What was asked, who had to go and why it, who got the blocks, and how the victim returns."""
    lines = [
        _asked(found, way, chip),
        f"{_why(found, scenario, chip)} {_given_back(way, scenario)}",
        _taken(found, way, chip),
        _back(found, scenario, chip),
    ]
    return [line for line in lines if line]


def _asked(found: Preemption, way: GivingWay, chip: Chips) -> str:
    if found.asker is None:
        return ""
    first, last = way.first_token + 1, way.first_token + way.num_tokens
    what = f"its {ordinal(first)} token" if first == last else f"its tokens {first:,} to {last:,}"
    needs = f"{chip(found.asker)} needs {many(way.needed, 'block')} for {what}."
    left = way.needed - found.missing
    return f"{needs} The free queue {f'has only {left:,}' if left > 0 else 'is empty'}."


def _why(found: Preemption, scenario: Scenario, chip: Chips) -> str:
    """What made it the victim (vllm/v1/core/sched/scheduler.py `_schedule_running`)."""
    who = chip(found.victim)
    if found.asker is None:
        return f"{who} is preempted like everyone who runs."
    if scenario.policy == "fcfs":
        return f"{who} is the last one in the running list: preempted."
    index = [spec.id for spec in scenario.requests].index(found.victim)
    priority = scenario.priority_key(index)[0]
    return f"{who} is the least urgent one that runs (priority {priority}): preempted."


def _given_back(way: GivingWay, scenario: Scenario) -> str:
    """Where its blocks go: hashed ones can be found again until they are taken."""
    head = "head" if scenario.version == "0.26.0" else "tail"
    parts = (
        (way.to_head, f"to the {head} of the free queue: no hash"),
        (way.to_tail, "to its tail: cached until somebody takes them"),
        (way.held, "held by others: not free"),
    )
    return " ".join(f"{_ids('Block', blocks)} {where}." for blocks, where in parts if blocks)


def _taken(found: Preemption, way: GivingWay, chip: Chips) -> str:
    if found.asker is None:
        return ""
    if found.asker == found.victim:
        return f"{chip(found.asker)} gets nothing, and waits in front of all who wait."
    if not way.taken:
        return f"{chip(found.asker)} lacks blocks still: somebody else has to go."
    lost = f": {way.evicted:,} with an old hash, which is dropped" if way.evicted else ""
    return f"{chip(found.asker)} takes {_ids('block', way.taken)}{lost}."


def _back(found: Preemption, scenario: Scenario, chip: Chips) -> str:
    who = chip(found.victim)
    if found.resumed is None:
        return f"{who} never comes back in this run."
    back = f"{who} is back in step {found.resumed:,}:"
    if not scenario.enable_prefix_caching:
        return f"{back} without prefix caching all {found.recomputed:,} are computed again."
    again = f"<b>{many(found.recomputed, 'token')}</b> computed again"
    return f"{back} {found.hits:,} found in the cache, {again}."


def _ids(noun: str, blocks: Blocks) -> str:
    shown = ", ".join(f"{block:,}" for block in blocks[:MOST_IDS])
    more = f" and {len(blocks) - MOST_IDS:,} more" if len(blocks) > MOST_IDS else ""
    return f"{noun}{'s' * (len(blocks) > 1)} <b>{shown}</b>{more}"


def ordinal(number: int) -> str:
    """Like 1st, 12th, 143rd."""
    teen = 10 <= number % 100 < 20
    ending = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
