"""The preemptions of a step, in words."""

from pages.figures.words import many
from sim.preemptions import Preemption
from sim.scenario import Scenario


def told(found: Preemption, scenario: Scenario) -> str:
    """Who lost what to whom and why it was the one, and what was left when it came back."""
    return f"{_why(found, scenario)} {_given_back(found, scenario)} {_back(found, scenario)}"


def _why(found: Preemption, scenario: Scenario) -> str:
    who = f"**{found.victim}**"
    if found.asker is None:
        return f"The prefix cache is reset: {who} is preempted like everyone who runs."
    lacks = f"**{found.asker}** lacks {many(found.missing, 'block')}."
    rule = _rule(found, scenario)
    if found.asker == found.victim:
        return f"{lacks} It is itself {rule}, so it gives way to itself."
    return f"{lacks} {who} is {rule}: it loses its place."


def _rule(found: Preemption, scenario: Scenario) -> str:
    """What made it the victim (vllm/v1/core/sched/scheduler.py `_schedule_running`)."""
    if scenario.policy == "fcfs":
        return "the last one in the running list"
    index = [spec.id for spec in scenario.requests].index(found.victim)
    return f"the least urgent one that runs (priority {scenario.priority_key(index)[0]})"


def _given_back(found: Preemption, scenario: Scenario) -> str:
    """Where its blocks go: hashed ones can be found again until they are taken."""
    held = found.blocks - found.hashed - found.unhashed
    words = [f"Its {many(found.blocks, 'block')} with **{found.computed:,}** computed tokens"]
    words.append("are given up:" if found.blocks != 1 else "is given up:")
    unhashed_to = "head" if scenario.version == "0.26.0" else "tail"
    parts = (
        (found.unhashed, f"without a hash to the {unhashed_to} of the free queue"),
        (found.hashed, "with a hash to the tail of the free queue"),
        (held, "still held by others"),
    )
    return " ".join(words) + " " + ", ".join(f"{n:,} {what}" for n, what in parts if n) + "."


def _back(found: Preemption, scenario: Scenario) -> str:
    if found.resumed is None:
        return "It never comes back in this run."
    if not scenario.enable_prefix_caching:
        lost = f"without prefix caching all **{found.recomputed:,}** are computed again"
        return f"Back in step {found.resumed:,}: {lost}."
    return (
        f"Back in step {found.resumed:,}: the cache has **{found.hits:,}** of its tokens, "
        f"**{found.recomputed:,}** are computed again."
    )
