"""What the sentences about prompts are made of: names, words, salts and short hashes of a log.

Sentences are marked up: **bold**, and `3c7f` for a hash.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from pages.figures.prefix_tokens import Tokens, show_token
from sim.event_log import EventLog
from sim.events import EventKind
from sim.hash_chain import hash_chain
from sim.prompt import TokenPrompt
from sim.scenario import RequestSpec
from sim.verdict import Lookup, Verdict, lookups

MARKS = re.compile(r"\*\*(?P<bold>.+?)\*\*|`(?P<mono>[0-9a-f]{4})`")

Part = dict[str, Any]


class PrefixText:
    """What is known of each request, by its index in the scenario.

    `words` are its tokens as the page shows them, `chains` the hashes of its full blocks in hex,
    the answer included; `prefixes` names a prefix id of the log: the request that cached it first,
    and which block.
    """

    def __init__(self, log: EventLog, tokens: Tokens = "words") -> None:
        self.log = log
        self.requests: Sequence[RequestSpec] = log.scenario.requests
        self.block_size = log.scenario.block_size
        ids = [_token_ids(spec) for spec in self.requests]
        self.words = [[show_token(token, tokens) for token in each] for each in ids]
        self.chains = [
            [
                key.hex()
                for key in hash_chain(each, self.block_size, spec.cache_salt, spec.lora_name)
            ]
            for spec, each in zip(self.requests, ids, strict=True)
        ]
        self.prefixes = _prefixes(log)

    @cached_property
    def lookups(self) -> list[Lookup]:
        """What each request found when it was let in."""
        return lookups(self.log)

    @property
    def first_lookups(self) -> list[Lookup]:
        """The same without those after a preemption."""
        return [lookup for lookup in self.lookups if not lookup.resumed]

    def block(self, request: int, logical: int) -> str:
        """The words of a logical block."""
        return " ".join(self.words[request][logical * self.block_size :][: self.block_size])

    def short(self, request: int, logical: int) -> str:
        """The first four hex digits of a full block's hash."""
        return self.chains[request][logical][:4]

    def name(self, request: int | None) -> str:
        """A request's id."""
        return "nobody" if request is None else self.requests[request].id

    def num_tokens(self, request: int) -> int:
        """Tokens of a request's prompt."""
        return self.requests[request].prompt.num_tokens

    def salt(self, request: int | None) -> str:
        """A request's salt, in words."""
        salt = None if request is None else self.requests[request].cache_salt
        return f"the salt “{salt}”" if salt else "no salt"

    def lora(self, request: int | None) -> str:
        """A request's LoRA, in words."""
        lora = None if request is None else self.requests[request].lora_name
        return f"the LoRA “{lora}”" if lora else "no LoRA"

    def difference(self, verdict: Verdict, has: str = ", {} has ") -> str:
        """Token 8 is “German”, A has “French”."""
        if verdict.token is None or verdict.other is None:
            return ""
        mine, theirs = (self.words[r][verdict.token] for r in (verdict.request, verdict.other))
        has = has.format(self.name(verdict.other))
        return f"Token {verdict.token} is “{mine}”{has}“{theirs}”"

    def hash(self, verdict: Verdict) -> str:
        """The hash of a verdict's block."""
        return f"`{self.short(verdict.request, verdict.logical)}`"

    def unlike(self, verdict: Verdict) -> str:
        """: 3c7f ≠ 57a7, where the other request has a full block at that place."""
        other = verdict.other
        if other is None or verdict.logical >= len(self.chains[other]):
            return ""
        return f": {self.hash(verdict)} ≠ `{self.short(other, verdict.logical)}`"


def _token_ids(spec: RequestSpec) -> tuple[int, ...]:
    """A request's prompt and what the model will answer. Raises TypeError when they are unknown."""
    if not isinstance(spec.prompt, TokenPrompt) or spec.output_token_ids is None:
        raise TypeError(f"{spec.id} has no token ids to show as words")
    return spec.prompt.token_ids + spec.output_token_ids


def _prefixes(log: EventLog) -> dict[int, tuple[int, int]]:
    columns = log.columns
    found: dict[int, tuple[int, int]] = {}
    for row in (columns["kind"] == EventKind.CACHE).nonzero()[0].tolist():
        request, first, n = (int(columns[name][row]) for name in ("request", "a", "b"))
        for logical, prefix in enumerate(log.payload(row)[n:].tolist(), first):
            found.setdefault(prefix, (request, logical))
    return found


def parts(sentence: str) -> list[Part]:
    """A marked up sentence as the player takes it: {"text"}, with "bold" or "mono" set."""
    found: list[Part] = []
    end = 0
    for match in MARKS.finditer(sentence):
        found.append({"text": sentence[end : match.start()]})
        found.append({"text": match[match.lastgroup or 0], str(match.lastgroup): True})
        end = match.end()
    return [part for part in [*found, {"text": sentence[end:]}] if part["text"]]


def plain(sentence: str) -> str:
    """A marked up sentence without its marks."""
    return "".join(part["text"] for part in parts(sentence))
