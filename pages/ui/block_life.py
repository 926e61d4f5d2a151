"""The life of a block in words: taken, hashed, given back, hit, evicted, and why."""

from collections.abc import Callable, Sequence
from itertools import groupby

import streamlit as st

from pages.figures.prefix_eviction import given_back, why_evicted
from pages.figures.prefix_text import plain
from pages.figures.words import many
from pages.ui.page import plain as shown
from pages.ui.step_links import StepLink, step_links
from sim.block_life import Change, Moment, block_life
from sim.event_log import EventLog
from sim.eviction import Eviction, evicted_in

Held = Callable[[Eviction], str]

PAST, LATER = 8, 2  # steps that are told before and after the one on screen


def anything(lost: Eviction) -> str:
    """What an evicted block held, where no tokens are known."""
    return "what it held"


def show_life(
    log: EventLog, step: int, block: int, *, player: str, key: str, held: Held = anything
) -> None:
    """The life of a block, its steps as buttons that take the player of that key there.

    `held` says what an evicted block held.
    """
    told = lines(log, block)
    past = [line for line in told if line.step <= step]
    later = [line for line in told if line.step > step]
    with st.container(border=True):
        st.markdown(f"**Block {block:,}’s life.** {_outline(past, later)}")
        if lost := last_eviction(log, step, block):
            question, answer = plain(why_evicted(log, lost, held(lost))).split("? ", 1)
            st.markdown(f"**{question}?** {shown(answer)}")
        step_links([*past[-PAST:], *later[:LATER]], step, player=player, key=key)


def lines(log: EventLog, block: int) -> list[StepLink]:
    """Each step that changed the block, and what it did, in words."""
    life = block_life(log, block)
    return [
        StepLink(step, f"step {step:,}", _told(log, list(moments), life))
        for step, moments in groupby(life, key=lambda moment: moment.step)
    ]


def last_eviction(log: EventLog, step: int, block: int) -> Eviction | None:
    """The last eviction of a block by a step."""
    gone = [m for m in block_life(log, block) if m.change == Change.EVICTED and m.step <= step]
    found = evicted_in(log, gone[-1].row) if gone else ()
    return next((eviction for eviction in found if eviction.block == block), None)


def _outline(past: Sequence[StepLink], later: Sequence[StepLink]) -> str:
    if not past and not later:
        return "No request ever takes it in this run."
    if not past:
        return "It was never taken so far."
    hidden = len(past) - PAST
    more = f" {many(hidden, 'earlier step')} left out." if hidden > 0 else ""
    return f"{many(len(past), 'step')} changed it so far.{more}"


def _told(log: EventLog, moments: Sequence[Moment], life: Sequence[Moment]) -> str:
    return " ".join(TOLD[moment.change](log, moment, life) for moment in moments)


def _evicted(log: EventLog, m: Moment, life: Sequence[Moment]) -> str:
    back = given_back(life, m.row)
    since = f", free since step {back.step:,}" if back else ""
    return f"Evicted: at the head of the free queue{since}, it loses its hash."


def _forgotten(log: EventLog, m: Moment, life: Sequence[Moment]) -> str:
    return "It loses its hash where it is: the prefix cache forgets it."


def _taken(log: EventLog, m: Moment, life: Sequence[Moment]) -> str:
    return f"{_who(log, m)} takes it{_as(m)}."


def _hit(log: EventLog, m: Moment, life: Sequence[Moment]) -> str:
    holders = f"; {many(m.holders, 'request')} hold it now" if m.holders > 1 else ""
    return f"{_who(log, m)} hits it{_as(m)}{holders}."


def _hashed(log: EventLog, m: Moment, life: Sequence[Moment]) -> str:
    return "It is full and gets its hash."


def _let_go(log: EventLog, m: Moment, life: Sequence[Moment]) -> str:
    if m.holders:
        hold = "holds" if m.holders == 1 else "hold"
        return f"{_who(log, m)} gives it back; {many(m.holders, 'request')} still {hold} it."
    end = "head" if m.to_head else "tail"
    keeps = "without a hash" if m.prefix is None else "its hash stays"
    return f"{_who(log, m)} gives it back, to the free queue’s {end}, {keeps}."


TOLD = {
    Change.EVICTED: _evicted,
    Change.FORGOTTEN: _forgotten,
    Change.TAKEN: _taken,
    Change.HIT: _hit,
    Change.HASHED: _hashed,
    Change.LET_GO: _let_go,
}


def _who(log: EventLog, m: Moment) -> str:
    return "Nobody" if m.request is None else log.scenario.requests[m.request].id


def _as(m: Moment) -> str:
    return "" if m.logical is None else f" as its logical block {m.logical:,}"
