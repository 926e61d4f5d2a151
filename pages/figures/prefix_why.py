"""Why a block hit or missed, and what a request found, in a sentence each."""

from pages.figures.prefix_text import PrefixText
from pages.figures.words import many
from sim.verdict import Lookup, Reason, Verdict

LABELS = {
    Reason.HIT: "hit",
    Reason.FIRST: "new",
    Reason.HELD_BACK: "held back",
    Reason.NOT_FULL: "not full",
    Reason.CACHING_OFF: "no lookup",
    Reason.NOT_READ: "no lookup",
}
QUESTIONS = {
    "hit": "Why did {}’s block {} hit?",
    "new": "Why is {}’s block {} new?",
    "miss": "Why did {}’s block {} miss?",
    "held back": "Why is {}’s block {} held back?",
    "not full": "Why can {}’s block {} not hit?",
    "no lookup": "Why was {}’s block {} not looked up?",
}


def label(verdict: Verdict) -> str:
    """What stands beside a block."""
    return LABELS.get(verdict.reason, "miss")


def hit_tokens(lookup: Lookup, text: PrefixText) -> str:
    """How much a request did not have to compute."""
    return f"{lookup.num_hits * text.block_size} of {many(lookup.num_tokens, 'token')} hit"


def why(verdict: Verdict, lookup: Lookup, text: PrefixText) -> str:
    """The question that a block of a lookup asks, and the answer."""
    question = QUESTIONS[label(verdict)].format(text.name(verdict.request), verdict.logical)
    return f"**{question}** {WHY[verdict.reason](verdict, text)}{_behind(verdict, lookup, text)}"


def finding(lookup: Lookup, text: PrefixText) -> str:
    """What a request found when it was let in, to be read after its name."""
    stop = lookup.verdicts[min(lookup.num_hits, len(lookup.verdicts) - 1)]
    found = FINDINGS[stop.reason](stop, text, f"**{hit_tokens(lookup, text)}**")
    return f" comes back{found}" if lookup.resumed and found.startswith(":") else found


def _behind(verdict: Verdict, lookup: Lookup, text: PrefixText) -> str:
    """What a differing token does to the next block, where that has the other's words."""
    if verdict.reason is not Reason.TOKEN:
        return ""
    for v in lookup.verdicts[verdict.logical + 1 : verdict.logical + 2]:
        if v.reason is Reason.PARENT and v.other == verdict.other:
            words = f" Block {v.logical} has {text.name(v.other)}’s words, but its hash covers"
            return f"{words} its parent’s hash, so it misses too."
    return ""


def _hit(v: Verdict, text: PrefixText) -> str:
    before = " and all that comes before them" if v.logical else ""
    return (
        f"Block {v.block} held its {many(text.block_size, 'token')}{before}: "
        f"{text.name(v.other)} computed them at step {v.since}. "
        f"The same tokens under the same salt have the same hash, {text.hash(v)}."
    )


def _first(v: Verdict, text: PrefixText) -> str:
    return (
        "Nothing was cached before. Its tokens are computed, and its block is kept under the hash "
        f"{text.hash(v)} for whoever comes next."
    )


def _token(v: Verdict, text: PrefixText) -> str:
    return f"{text.difference(v)}{text.unlike(v)}."


def _ends(v: Verdict, text: PrefixText) -> str:
    same = f"{text.name(v.other)}’s prompt is the same"
    return f"{same}, but ends in this block, after {many(v.token or 0, 'token')}."


def _salt(v: Verdict, text: PrefixText) -> str:
    return (
        f"{text.name(v.other)} has the same words, but {text.salt(v.other)}, and "
        f"{text.name(v.request)} has {text.salt(v.request)}. The salt enters the first hash, and "
        f"every later hash follows{text.unlike(v)}."
    )


def _lora(v: Verdict, text: PrefixText) -> str:
    return (
        f"{text.name(v.other)} has the same words, but {text.lora(v.other)}, and "
        f"{text.name(v.request)} has {text.lora(v.request)}. "
        f"The LoRA’s name enters every hash{text.unlike(v)}."
    )


def _parent(v: Verdict, text: PrefixText) -> str:
    parent = f"its hash covers the hash of block {v.logical - 1}, which missed"
    if v.other is None:
        return f"{parent[0].upper()}{parent[1:]}."
    return f"It has {text.name(v.other)}’s words, but {parent}{text.unlike(v)}."


def _evicted(v: Verdict, text: PrefixText) -> str:
    return (
        f"Block {v.block} held it until step {v.since}. Then {text.name(v.other)} took that block "
        f"from the head of the free queue, and the hash {text.hash(v)} was dropped."
    )


def _forgotten(v: Verdict, text: PrefixText) -> str:
    return (
        f"Block {v.block} held it until step {v.since}. Then the prefix cache was reset, and every "
        f"hash was dropped, {text.hash(v)} too."
    )


def _uncached(v: Verdict, text: PrefixText) -> str:
    return "No block with these tokens was ever cached."


def _held_back(v: Verdict, text: PrefixText) -> str:
    tokens, size = (v.logical + 1) * text.block_size, text.block_size
    return (
        f"Block {v.block} held it, but at most ⌊({tokens} − 1) / {size}⌋ = "
        f"{many(v.logical, 'block')} can hit: one token must be computed to get logits. "
        f"So it was computed once more, and two blocks have the hash {text.hash(v)}."
    )


def _not_full(v: Verdict, text: PrefixText) -> str:
    held = (v.token or 0) - v.logical * text.block_size
    return f"It had {held} of {many(text.block_size, 'token')}, and only a full block has a hash."


def _caching_off(v: Verdict, text: PrefixText) -> str:
    return "Prefix caching is off: no block gets a hash, and every token is computed."


def _not_read(v: Verdict, text: PrefixText) -> str:
    return (
        f"{text.name(v.request)} skips reading the prefix cache, so its tokens are computed. "
        "Its blocks get their hashes all the same, for others."
    )


WHY = {
    Reason.HIT: _hit,
    Reason.FIRST: _first,
    Reason.TOKEN: _token,
    Reason.ENDS: _ends,
    Reason.SALT: _salt,
    Reason.LORA: _lora,
    Reason.PARENT: _parent,
    Reason.EVICTED: _evicted,
    Reason.FORGOTTEN: _forgotten,
    Reason.UNCACHED: _uncached,
    Reason.HELD_BACK: _held_back,
    Reason.NOT_FULL: _not_full,
    Reason.CACHING_OFF: _caching_off,
    Reason.NOT_READ: _not_read,
}


def _found_first(v: Verdict, text: PrefixText, hit: str) -> str:
    tokens = many(text.num_tokens(v.request), "token")
    return f" comes first: nothing is cached yet, **all {tokens}** are computed."


def _found_token(v: Verdict, text: PrefixText, hit: str) -> str:
    return f": {hit}. {text.difference(v, ' where {} has ')}, and all behind it misses too."


def _found_ends(v: Verdict, text: PrefixText, hit: str) -> str:
    return f": {hit}. {text.name(v.other)}’s prompt is the same, but ends after {v.token} tokens."


def _found_salt(v: Verdict, text: PrefixText, hit: str) -> str:
    return (
        f" has {text.name(v.other)}’s words but another salt. "
        f"The salt enters the first hash, every later hash follows: {hit}."
    )


def _found_lora(v: Verdict, text: PrefixText, hit: str) -> str:
    words = f"{text.name(v.other)}’s words but another LoRA"
    return f" has {words}, and the LoRA’s name enters every hash: {hit}."


def _found_evicted(v: Verdict, text: PrefixText, hit: str) -> str:
    took = f"{text.name(v.other)} took block {v.block} at step {v.since}"
    return f": {hit}. {took}, so what it held is computed once more."


def _found_forgotten(v: Verdict, text: PrefixText, hit: str) -> str:
    reset = f"The prefix cache was reset at step {v.since}"
    return f": {hit}. {reset}, so what it held is computed once more."


def _found_uncached(v: Verdict, text: PrefixText, hit: str) -> str:
    return f": {hit}. No block with the tokens behind those was ever cached."


def _found_all(v: Verdict, text: PrefixText, hit: str) -> str:
    return f": {hit}. The last block is held back, as one token must be computed to get logits."


def _found_full(v: Verdict, text: PrefixText, hit: str) -> str:
    if v.logical:
        return f": {hit}, all that is in full blocks."
    return f": {hit}. It fills no block, and only full blocks have a hash."


def _found_caching_off(v: Verdict, text: PrefixText, hit: str) -> str:
    return f": {hit}, as prefix caching is off."


def _found_not_read(v: Verdict, text: PrefixText, hit: str) -> str:
    return f": {hit}, as it skips reading the prefix cache."


FINDINGS = {
    Reason.HIT: _found_full,
    Reason.FIRST: _found_first,
    Reason.TOKEN: _found_token,
    Reason.ENDS: _found_ends,
    Reason.SALT: _found_salt,
    Reason.LORA: _found_lora,
    Reason.PARENT: _found_uncached,
    Reason.EVICTED: _found_evicted,
    Reason.FORGOTTEN: _found_forgotten,
    Reason.UNCACHED: _found_uncached,
    Reason.HELD_BACK: _found_all,
    Reason.NOT_FULL: _found_full,
    Reason.CACHING_OFF: _found_caching_off,
    Reason.NOT_READ: _found_not_read,
}
