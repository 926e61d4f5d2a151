"""Blocks as small marks in HTML, in the owners' colours of both themes."""

from collections.abc import Iterable
from html import escape

from pages.figures.palette import DARK, LIGHT, Owner


def chip(label: object, state: str, owner: int | None = None, title: str = "") -> str:
    """A block: `state` is held, shared, hit, free, cached or partial; `owner` a request's index."""
    style = f' style="{_colours(owner)}"' if owner is not None else ""
    told = f' title="{escape(title)}"' if title else ""
    return f'<b class="chip {state}"{style}{told}>{escape(str(label))}</b>'


def name(label: str, owner: int) -> str:
    """A request's id in its colour."""
    return f'<i class="who" style="{_colours(owner)}">{escape(label)}</i>'


def chips(marks: Iterable[str]) -> str:
    """Marks in a row."""
    return f'<span class="chips">{"".join(marks)}</span>'


def _colours(owner: int) -> str:
    light, dark = _owner(LIGHT.owners, LIGHT.rest, owner), _owner(DARK.owners, DARK.rest, owner)
    pairs = {
        "fill": (light.fill, dark.fill),
        "edge": (light.edge, dark.edge),
        "tint": (light.tint, dark.tint),
        "on": (light.on_fill, dark.on_fill),
    }
    return ";".join(f"--{key}:light-dark({a},{b})" for key, (a, b) in pairs.items())


def _owner(owners: tuple[Owner, ...], rest: Owner, index: int) -> Owner:
    return owners[index] if index < len(owners) else rest
