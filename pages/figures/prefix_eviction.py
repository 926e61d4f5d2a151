"""Why a block was evicted, in words: who took it, why this one and no other, and what was lost.

Sentences are marked up as those of prefix_text.py. What the block held is told by who knows it.
"""

from collections.abc import Sequence

from pages.figures.prefix_text import PrefixText
from pages.figures.words import many
from sim.block_life import Change, Moment, block_life
from sim.event_log import EventLog
from sim.eviction import Eviction

NAMED = 6  # blocks named one by one


def why_evicted(log: EventLog, lost: Eviction, held: str = "what it held") -> str:
    """The question, and the answer: `held` is lost."""
    question = f"**Why was block {lost.block} evicted?**"
    return f"{question} {_taken(log, lost)} {_chosen(log, lost)} {_lost(log, lost, held)}"


def cost(lost: Sequence[Eviction]) -> str:
    """What the evictions of one row of the log were, and why, in a sentence."""
    blocks = listed([eviction.block for eviction in lost])
    noun, verb = ("Blocks", "are") if len(lost) > 1 else ("Block", "is")
    longest = "they had been free the longest" if len(lost) > 1 else "it had been free the longest"
    blank = lost[0].blank
    if not blank:
        return f"{noun} {blocks} {verb} evicted: no block without a hash is left, and {longest}."
    stands = "stands" if blank == 1 else "stand"
    return (
        f"{noun} {blocks} {verb} evicted as {longest}, though {many(blank, 'block')} without a "
        f"hash {stands} behind."
    )


def words_lost(text: PrefixText, lost: Eviction) -> str:
    """What an evicted block held, in the words of the request that had them first."""
    request, logical = text.prefixes[lost.prefix]
    return f"“{text.block(request, logical)}” (hash `{text.short(request, logical)}`)"


def listed(items: Sequence[object]) -> str:
    """1, 2 and 3; of many, the first few."""
    shown = [str(item) for item in items[:NAMED]]
    if len(items) > NAMED:
        return f"{', '.join(shown)} and {len(items) - NAMED:,} more"
    *first, last = shown
    return f"{', '.join(first)} and {last}" if first else last


def _taken(log: EventLog, lost: Eviction) -> str:
    who = log.scenario.requests[lost.request].id
    at = f"At step {lost.step:,} {who} needed {many(lost.taken, 'block')}"
    if not lost.before:
        return f"{at}, and this one was at the head of the free queue."
    before = listed(lost.before)
    return f"{at} from the head of the free queue: {before}, and this one was next."


def _chosen(log: EventLog, lost: Eviction) -> str:
    """Why this one: what stands in the queue has been free for the longer the nearer the head."""
    if lost.blank:
        stood = "stands" if lost.blank == 1 else "stand"
        none = f"{many(lost.blank, 'block')} without a hash {stood} behind it, but"
    else:
        none = "No block without a hash was left, and"
    return f"{none} it had been free the longest{_since(log, lost)}."


def _since(log: EventLog, lost: Eviction) -> str:
    back = given_back(block_life(log, lost.block), lost.row)
    if back is None or back.request is None:
        return ""
    who = log.scenario.requests[back.request].id
    order = ", last block first, so none outlives the one before it" if back.logical else ""
    return f": {who} gave it back at step {back.step:,}{order}"


def given_back(life: Sequence[Moment], row: int) -> Moment | None:
    """When a block that is taken in a row had come into the free queue."""
    back = [m for m in life if m.row < row and m.change == Change.LET_GO and m.holders == 0]
    return back[-1] if back else None


def _lost(log: EventLog, lost: Eviction, held: str) -> str:
    if lost.copy is not None:
        return f"Block {lost.copy} has the same tokens, so {held} can still be hit."
    if lost.again is None:
        return f"So {held} can no longer be hit; nobody needs it again in this run."
    who = log.scenario.requests[lost.again.request].id
    where = f"at step {lost.again.step:,}, into block {lost.again.block}"
    return f"So {held} can no longer be hit, and {who} computes it again {where}."
