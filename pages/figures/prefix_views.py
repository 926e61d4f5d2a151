"""The same prompts in three ways: a block table each, vLLM's hash chain, a radix tree of blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pages.figures.prefix_html import chip, chips, name
from pages.figures.prefix_point import first_lookups, prompt_blocks
from pages.figures.prefix_text import PrefixText
from pages.figures.words import many
from sim.event_log import EventLog
from sim.verdict import Lookup, Reason, Verdict


@dataclass(frozen=True, slots=True)
class Counts:
    """Blocks that the same prompts lie in: a table each, with the hash chain, in a radix tree."""

    prompts: int
    apart: int
    chain: int
    tree: int


@dataclass(slots=True)
class Node:
    """A block of the tree: the first tokens of it that prompts have, who has them, what follows.

    `key` is its hash; a last block that is not full has none.
    """

    key: str
    content: tuple[str, ...]
    who: list[int] = field(default_factory=list)
    below: dict[str, "Node"] = field(default_factory=dict)


def count_blocks(text: PrefixText) -> Counts:
    """What each view needs for the prompts that were let in."""
    told = text.first_lookups
    apart = sum(_num_blocks(lookup.request, text) for lookup in told)
    hits = sum(lookup.num_hits for lookup in told)
    chain = apart - hits + len(_answered(told, text))
    return Counts(len(told), apart, chain, _size(radix_tree(told, text)))


def radix_tree(told: Sequence[Lookup], text: PrefixText) -> Node:
    """The prompts as a tree whose nodes are blocks; its root is no block.

    A last block that is not full is part of one that starts with the same tokens, if there is one.
    """
    root = Node("", ())
    ends = [(lookup.request, _walk(root, lookup.request, text)) for lookup in told]
    for r, parent in sorted(ends, key=lambda end: -text.num_tokens(end[0]) % text.block_size):
        if content := _content(r, text.num_tokens(r) // text.block_size, text):
            same = (n for n in parent.below.values() if n.content[: len(content)] == content)
            node = next(same, None) or parent.below.setdefault(f"end of {r}", Node("", content))
            node.who.append(r)
    return root


def _walk(node: Node, request: int, text: PrefixText) -> Node:
    """Down the full blocks of a prompt, which are made where there are none."""
    full = text.num_tokens(request) // text.block_size
    for logical, key in enumerate(text.chains[request][:full]):
        node = node.below.setdefault(key, Node(key, _content(request, logical, text)))
        node.who.append(request)
    return node


def _content(request: int, logical: int, text: PrefixText) -> tuple[str, ...]:
    """The prompt's tokens in a block; in the first one behind what else enters its hash."""
    start = logical * text.block_size
    words = text.words[request][start : min(start + text.block_size, text.num_tokens(request))]
    extra = () if logical else (text.salt(request), text.lora(request))
    return (*extra, *words) if words else ()


def _answered(told: Sequence[Lookup], text: PrefixText) -> set[tuple[int | None, int | None]]:
    """Blocks that hit but hold nothing of a prompt: an answer filled them, and a prompt quotes it.

    Each is told by its id and the step in which it got its hash.
    """
    hits = (v for lookup in told for v in lookup.verdicts[: lookup.num_hits])
    return {(v.block, v.since) for v in hits if v.logical >= _num_blocks(v.other or 0, text)}


def answer(counts: Counts) -> str:
    """Is paging itself prefix sharing? In words, with the counts."""
    again = counts.chain - counts.tree
    fewer = (
        f", {again} fewer: what was held back, evicted or not full is computed once more"
        if again
        else ", as many"
    )
    return (
        f"No. A block table lets blocks lie anywhere, and {many(counts.prompts, 'prompt')} still "
        f"take {many(counts.apart, 'block')}, each its own. Sharing needs a way to find a block by "
        f"what it holds: with the hash chain they lie in {counts.chain}. A radix tree finds the "
        f"same prefixes on the way down from its root, and has {many(counts.tree, 'block')}{fewer}."
    )


def views(counts: Counts, apart: EventLog, text: PrefixText) -> str:
    """The three views beside each other; `apart` is the run without a prefix cache."""
    told = text.first_lookups
    columns = (
        ("Block table only", "no cache", counts.apart, _rows(apart, first_lookups(apart), text)),
        ("Hash chain", "what vLLM does; outlined: hit", counts.chain, _rows(text.log, told, text)),
        (
            "Radix tree",
            "its blocks, by their hashes",
            counts.tree,
            _branches(radix_tree(told, text), text),
        ),
    )
    return '<div class="three-views">' + "".join(_view(*column) for column in columns) + "</div>"


def _view(title: str, note: str, count: int, body: str) -> str:
    return f"<div><h4>{title}<small>{note}</small><em>{many(count, 'block')}</em></h4>{body}</div>"


def _rows(log: EventLog, told: Sequence[Lookup], text: PrefixText) -> str:
    """The prompts as they were let in: computed blocks in their own colour, hits in outline."""
    return "".join(
        chips([name(text.name(lookup.request), lookup.request), *_row(log, lookup, text)])
        for lookup in told
    )


def _row(log: EventLog, lookup: Lookup, text: PrefixText) -> Iterator[str]:
    for verdict, block in zip(lookup.verdicts, prompt_blocks(log, lookup), strict=True):
        hit = verdict.reason is Reason.HIT
        owner = verdict.other if hit else lookup.request
        yield chip(block, "hit" if hit else "held", owner, _title(verdict, text))


def _branches(node: Node, text: PrefixText) -> str:
    """Runs of blocks without a fork between them in a row; what forks off below, indented."""
    return "".join(f"<ul><li>{_branch(child, text)}</li></ul>" for child in node.below.values())


def _branch(node: Node, text: PrefixText) -> str:
    run, who = [node], sorted(node.who)
    while len(below := [*run[-1].below.values()]) == 1 and sorted(below[0].who) == who:
        run += below
    marks = [_node(step, text) for step in run]
    return chips([*marks, *(name(text.name(r), r) for r in who)]) + _branches(run[-1], text)


def _node(node: Node, text: PrefixText) -> str:
    told = f"on the way of {many(len(node.who), 'prompt')}"
    if not node.key:
        part = text.num_tokens(node.who[0]) % text.block_size
        return chip(f"{part}/{text.block_size}", "partial", min(node.who), told)
    return chip(node.key[:4], "shared" if len(node.who) > 1 else "held", min(node.who), told)


def _title(verdict: Verdict, text: PrefixText) -> str:
    r, logical = verdict.request, verdict.logical
    return f"{text.name(r)}’s logical block {logical}: {text.block(r, logical)}"


def _size(node: Node) -> int:
    return sum(1 + _size(child) for child in node.below.values())


def _num_blocks(request: int, text: PrefixText) -> int:
    return -(-text.num_tokens(request) // text.block_size)
