"""How much of two requests is the same, as far as prompts and scripted answers tell.

A trace names stretches of a prompt by ids: equal ids at equal places are equal tokens. An answer
that is not scripted is new tokens that nobody else has. A prompt of tokens and one of ids share
nothing. Two whose ids stand for stretches of different lengths share no more than the first id.
"""

from collections.abc import Iterable
from itertools import chain, compress, count
from operator import ne
from typing import Any

from sim.prompt import HashedPrompt, TokenPrompt
from sim.scenario import RequestSpec


def shared_tokens(one: RequestSpec, other: RequestSpec) -> int:
    """Leading tokens that are the same, all that the two will answer included."""
    mine, theirs = one.prompt, other.prompt
    answers = one.output_token_ids or (), other.output_token_ids or ()
    if isinstance(mine, TokenPrompt) and isinstance(theirs, TokenPrompt):
        both = chain(mine.token_ids, answers[0]), chain(theirs.token_ids, answers[1])
        return _leading(*both, min(map(_num_known, (one, other))))
    if not isinstance(mine, HashedPrompt) or not isinstance(theirs, HashedPrompt):
        return 0
    ids, size = (mine.hash_ids, theirs.hash_ids), min(mine.hash_block_size, theirs.hash_block_size)
    comparable = min(map(len, ids)) if mine.hash_block_size == theirs.hash_block_size else 1
    same = _leading(*ids, comparable) * size
    shorter = min(mine.num_tokens, theirs.num_tokens)
    if same < shorter or mine.num_tokens != theirs.num_tokens:
        return min(same, shorter)
    return shorter + _leading(*answers, min(map(len, answers)))


def same_tokens(one: RequestSpec, other: RequestSpec, start: int, stop: int) -> bool:
    """Are tokens [start, stop) the same, whatever comes before? Not where one's are unknown."""
    known = stop <= min(_num_known(one), _num_known(other))
    return known and _stretch(one, start, stop) == _stretch(other, start, stop)


def is_exact(one: RequestSpec, other: RequestSpec, position: int) -> bool:
    """Is the first token that differs at `position`, and not only somewhere in an id from there?"""
    prompts = one.prompt, other.prompt
    within = position < min(prompt.num_tokens for prompt in prompts)
    return not within or all(isinstance(prompt, TokenPrompt) for prompt in prompts)


def _leading(one: Iterable[int], other: Iterable[int], shorter: int) -> int:
    """How many leading numbers are the same; `shorter` is how many the shorter one has."""
    return next(compress(count(), map(ne, one, other)), shorter)


def _num_known(spec: RequestSpec) -> int:
    return spec.prompt.num_tokens + len(spec.output_token_ids or ())


def _stretch(spec: RequestSpec, start: int, stop: int) -> tuple[Any, ...]:
    """Tokens [start, stop) as a value that is equal to another exactly when the tokens are."""
    prompt, length = spec.prompt, spec.prompt.num_tokens
    answer = (spec.output_token_ids or ())[max(start - length, 0) : max(stop - length, 0)]
    if isinstance(prompt, TokenPrompt):
        return prompt.token_ids[start:stop] + answer
    return (prompt.content(start, min(stop, length)) if start < length else (), answer)
