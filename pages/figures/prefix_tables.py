"""A step of the prefix cache as tables: who shares what, the hash chains, the free queue."""

from collections.abc import Sequence

import pandas as pd

from pages.figures.prefix_text import PrefixText, plain
from pages.figures.prefix_why import label, why
from sim.frame import Frame
from sim.verdict import Lookup, Verdict

DIGITS = 16  # of a hash: the 8 bytes that the recordings of vLLM show


def shared_blocks(frame: Frame, text: PrefixText) -> pd.DataFrame:
    """Each full block that is held: by whom, how often, and what it holds."""
    columns = ("block", "held by", "ref count", "logical block", "tokens", "hash")
    rows = []
    for block, owners in sorted(frame.owners.items()):
        prefix = int(frame.prefix_id[block])
        if prefix >= 0:
            request, logical = text.prefixes[prefix]
            tokens, key = text.block(request, logical), text.chains[request][logical][:DIGITS]
            rows.append((block, ", ".join(owners), len(owners), logical, tokens, key))
    return pd.DataFrame(rows, columns=columns)


def hash_chains(step: int, lookups: Sequence[Lookup], text: PrefixText) -> pd.DataFrame:
    """The prompts let in by a step, block by block: parent, hash, and why it hit or missed."""
    columns = ("request", "logical block", "tokens", "salt", "parent", "hash", "found", "why")
    told = [lookup for lookup in lookups if lookup.step <= step]
    rows = [_link(verdict, lookup, text) for lookup in told for verdict in lookup.verdicts]
    return pd.DataFrame(rows, columns=columns)


def free_queue(frame: Frame, text: PrefixText) -> pd.DataFrame:
    """The free blocks, head first, and what is lost when each is taken."""
    rows = []
    for place, block in enumerate(frame.free_queue.tolist(), 1):
        cached = text.prefixes.get(int(frame.prefix_id[block]))
        tokens = text.block(*cached) if cached else ""
        key = text.chains[cached[0]][cached[1]][:DIGITS] if cached else ""
        rows.append((place, block, key, tokens))
    return pd.DataFrame(rows, columns=("from the head", "block", "hash", "tokens"))


def _link(verdict: Verdict, lookup: Lookup, text: PrefixText) -> tuple[object, ...]:
    request, logical = verdict.request, verdict.logical
    hashed = (
        text.chains[request] if label(verdict) != "not full" else text.chains[request][:logical]
    )
    keys = [key[:DIGITS] for key in hashed]
    answer = plain(why(verdict, lookup, text)).split("? ", 1)[1]
    return (
        text.name(request),
        logical,
        text.block(request, logical),
        (text.requests[request].cache_salt or "") if logical == 0 else "",
        keys[logical - 1] if logical else "",
        keys[logical] if logical < len(keys) else "",
        label(verdict),
        answer,
    )
