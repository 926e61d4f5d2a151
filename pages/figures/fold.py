"""One folded token in numbers: the arithmetic of its step, and the table of all of them."""

import math

from sim.attention import TokenFolded, Walk
from sim.attention_input import AttentionInput


def number(x: float, digits: int = 3) -> str:
    """A float for reading: fixed digits, a real minus sign, ∞ for infinity."""
    text = "∞" if math.isinf(x) else f"{abs(x):.{digits}f}"
    return f"−{text}" if x < 0 else text


def arithmetic(inputs: AttentionInput, walk: Walk, head: int, position: int) -> list[str]:
    """The six lines that fold token `position`, with the recorded numbers put in; acc[0] alone."""
    fold = walk.folds[position]
    carried_l, carried_acc = carried(walk, position)
    v = inputs.values[inputs.kv_head(head)][position][0]
    return [
        f"s      = q·k / √{inputs.head_size} = {number(fold.s)}",
        f"m      = max({number(fold.m_old)}, {number(fold.s)}) = {number(fold.m)}",
        f"corr   = exp({number(fold.m_old)} − {signed(fold.m)}) = {number(fold.corr)}",
        f"p      = exp({number(fold.s)} − {signed(fold.m)}) = {number(fold.p)}",
        f"l      = {number(carried_l)} × {number(fold.corr)} + {number(fold.p)} = {number(fold.l)}",
        f"acc[0] = {number(carried_acc)} × {number(fold.corr)} + {number(fold.p)} × {signed(v)}"
        f" = {number(fold.acc[0])}",
    ]


def signed(x: float) -> str:
    """A number that follows an operator: in brackets when it is negative."""
    return f"({number(x)})" if x < 0 else number(x)


def carried(walk: Walk, position: int) -> tuple[float, float]:
    """l and acc[0] before token `position`."""
    if position == 0:
        return 0.0, 0.0
    before: TokenFolded = walk.folds[position - 1]
    return before.l, before.acc[0]


def place(inputs: AttentionInput, walk: Walk, position: int) -> list[str]:
    """The three lines that lead from token `position` to its slot."""
    fold, size = walk.folds[position], inputs.block_size
    slot = fold.block_id * size + fold.offset
    return [
        f"{position} // {size} = {position // size}   table[{position // size}] = {fold.block_id}",
        f"{position} % {size} = {fold.offset}",
        f"slot = {fold.block_id} × {size} + {fold.offset} = {slot}",
    ]


def rows(walk: Walk) -> list[dict[str, float]]:
    """One row per token folded: where it lay, and the state after it."""
    return [
        {"token": fold.position, "block": fold.block_id, "slot": fold.offset}
        | {name: getattr(fold, name) for name in ("s", "m_old", "m", "corr", "p", "l")}
        | {f"acc[{i}]": a for i, a in enumerate(fold.acc)}
        | {"error": walk.error(fold.output)}
        for fold in walk.folds
    ]
