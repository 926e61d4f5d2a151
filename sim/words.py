"""Words as tokens: a stand-in for a tokenizer whose every token can be read.

A token is a run of letters, digits and underscores, or one other character. Its id is its UTF-8
bytes read as a number, so no vocabulary is needed: a word has the same id in every prompt.
"""

import re

WORD = re.compile(r"\w{1,24}|[^\w\s\0]")


def split(text: str) -> list[str]:
    """The words of a text, in order; white space only separates."""
    return WORD.findall(text)


def token_id(word: str) -> int:
    """The id of a word."""
    return int.from_bytes(word.encode())


def word(token_id: int) -> str:
    """The word of an id that `token_id` gave."""
    return token_id.to_bytes(-(-token_id.bit_length() // 8)).decode()
