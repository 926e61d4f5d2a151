"""The log of some prompts as the player's prefix stage takes it."""

from itertools import groupby
from typing import Any

from pages.figures.prefix_eviction import cost, why_evicted, words_lost
from pages.figures.prefix_text import Part, PrefixText, parts
from pages.figures.prefix_why import finding, hit_tokens, label, why
from sim.columns import pack
from sim.eviction import Eviction, evictions
from sim.verdict import Lookup, Reason


def prefix_blob(text: PrefixText, request: str, block: int) -> bytes:
    """The log, with the prompts' words, the block hashes, and why each block hit or missed.

    `request` and the logical `block` of it are asked about until the visitor picks another.
    """
    log = text.log
    header = {
        **log.header(),
        "stage": "prefix",
        "view": {"request": request, "block": block},
        "prompts": [words[: text.num_tokens(r)] for r, words in enumerate(text.words)],
        "salts": [spec.cache_salt for spec in text.requests],
        "chains": [[key[:4] for key in chain] for chain in text.chains],
        "prefixes": _prefix_ids(text),
        "hashes": {prefix: text.short(*first) for prefix, first in text.prefixes.items()},
        "lookups": [_lookup(found, text) for found in text.lookups],
        "losses": _losses(text),
    }
    return pack(header, log.columns)


def _prefix_ids(text: PrefixText) -> list[list[int | None]]:
    """The prefix id of each full block; None where no block ever got that hash."""
    ids = {text.chains[r][logical]: prefix for prefix, (r, logical) in text.prefixes.items()}
    return [[ids.get(key) for key in chain] for chain in text.chains]


def _lookup(found: Lookup, text: PrefixText) -> dict[str, Any]:
    first = found.verdicts[0].reason is Reason.FIRST
    sentence: list[Part] = parts(finding(found, text))
    return {
        "step": found.step,
        "request": found.request,
        "summary": "nothing to hit yet" if first else hit_tokens(found, text),
        "sentence": sentence,
        "blocks": [
            {"label": label(v), "token": v.token, "why": parts(why(v, found, text))}
            for v in found.verdicts
        ],
    }


def _losses(text: PrefixText) -> list[dict[str, Any]]:
    """Each row of the log that evicts blocks: who took them when, in short, and why each."""
    return [
        {
            "step": lost[0].step,
            "request": lost[0].request,
            "cost": parts(f" {cost(lost)}"),
            "blocks": [_loss(eviction, text) for eviction in lost],
        }
        for lost in (list(row) for _, row in groupby(evictions(text.log), key=lambda e: e.row))
    ]


def _loss(lost: Eviction, text: PrefixText) -> dict[str, Any]:
    held = words_lost(text, lost)
    return {
        "block": lost.block,
        "prefix": lost.prefix,
        "why": parts(why_evicted(text.log, lost, held)),
        "paid": parts(f" Block {lost.block} was evicted for it: it held {held}."),
    }
