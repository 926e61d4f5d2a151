"""How a prompt is cut into tokens, and how a token of it is shown.

A prompt may quote an answer: `A·0` is the first token that A is answered with, whatever the cut.
"""

import re
from typing import Literal

from sim.words import WORD, token_id, word

Tokens = Literal["words", "bytes", "ids"]

QUOTED = r"[A-D]·\d{1,2}"
WORDS = re.compile(f"{QUOTED}|{WORD.pattern}")
NUMBER = re.compile(r"[0-9]{1,6}")  # every quoted token's id is larger
SPACES = {ord(" "): "␣", ord("\n"): "↵", ord("\t"): "⇥"}


def read_tokens(text: str, tokens: Tokens) -> list[int]:
    """The token ids of a text. Raises ValueError, with what it cannot read, in one of numbers."""
    if tokens == "bytes":
        return list(text.encode())
    if tokens == "words":
        return [token_id(found) for found in WORDS.findall(text)]
    return [_number(item) for item in re.split(r"[\s,]+", text) if item]


def show_token(token: int, tokens: Tokens) -> str:
    """A token as it stands on the page: a word, a byte's sign or its hex digits, a number."""
    if tokens == "bytes" and token < 256:
        return SPACES.get(token) or (chr(token) if 32 < token < 127 else f"{token:02x}")
    if tokens == "ids" and token < 1_000_000:
        return str(token)
    return word(token)


def _number(item: str) -> int:
    if re.fullmatch(QUOTED, item):
        return token_id(item)
    if not NUMBER.fullmatch(item):
        raise ValueError(item)
    return int(item)
