"""A recorded walk over a block table as the player's log.

Nothing is computed here that the walk did not record: a position of the player is one micro step
of `sim.attention.paged_attention`, and the source that it lights is that function's own.
"""

import ast
import inspect
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from sim.attention import BlockVisited, Walk, paged_attention
from sim.attention_input import AttentionInput
from sim.columns import Column, pack

MICRO_STEPS = ("start", "block", "load", "score", "max", "corr", "p", "l", "acc", "divide")
FOLD_STEPS = MICRO_STEPS[2:9]

# The name that the lit line assigns, and which of its assignments: the first or the last.
ASSIGNED = {
    "start": ("m", 0),
    "block": ("block_id", -1),
    "load": ("k", -1),
    "score": ("s", -1),
    "max": ("m", -1),
    "corr": ("corr", -1),
    "p": ("p", -1),
    "l": ("l", -1),
    "acc": ("acc", -1),
    "divide": ("return", -1),
}


def gather_blob(inputs: AttentionInput, walk: Walk, head: int, holders: Sequence[str]) -> bytes:
    """The log of the stage "gather": query head `head`, `holders` naming each block's owner."""
    kinds, tokens, blocks = micro_steps(walk)
    header = {
        "stage": "gather",
        "num_steps": len(kinds),
        "micro_steps": MICRO_STEPS,
        "source": source(),
        **walk_header(inputs, head, holders),
    }
    steps: dict[str, Column] = {
        "kind": np.array([MICRO_STEPS.index(kind) for kind in kinds], np.uint8),
        "token": np.array(tokens, np.int32),
        "logical": np.array(blocks, np.int32),
    }
    return pack(header, steps | walk_columns(inputs, walk, head))


def micro_steps(walk: Walk) -> tuple[list[str], list[int], list[int]]:
    """Per position: the micro step, the last token touched, the logical block; −1 before any."""
    rows = [("start", -1, -1)]
    token = logical = -1
    for event in walk.events:
        if isinstance(event, BlockVisited):
            logical = event.logical_block
            rows.append(("block", token, logical))
        else:
            token = event.position
            rows += [(kind, token, logical) for kind in FOLD_STEPS]
    rows.append(("divide", token, logical))
    kinds, tokens, blocks = zip(*rows, strict=True)
    return list(kinds), list(tokens), list(blocks)


def opening_step(walk: Walk, block_size: int) -> int:
    """Where the page opens: the second block's first token is folded, or the only block's last."""
    token = min(block_size, len(walk.folds) - 1)
    kinds, tokens, _ = micro_steps(walk)
    return list(zip(kinds, tokens, strict=True)).index(("acc", token))


def walk_header(inputs: AttentionInput, head: int, holders: Sequence[str]) -> dict[str, Any]:
    """Shapes and places of one walk."""
    return {
        "block_table": inputs.block_table,
        "block_size": inputs.block_size,
        "seq_len": inputs.seq_len,
        "head_size": inputs.head_size,
        "num_heads": len(inputs.queries),
        "head": head,
        "kv_head": inputs.kv_head(head),
        "holders": holders,
    }


def walk_columns(inputs: AttentionInput, walk: Walk, head: int) -> dict[str, Column]:
    """Everything recorded per token (vectors flattened), and the dense answer beside it."""
    folds, kv = walk.folds, inputs.kv_head(head)
    scalars = {
        name: np.array([getattr(fold, name) for fold in folds], np.float64)
        for name in ("s", "m_old", "m", "corr", "p", "l")
    }
    places = {
        name: np.array([getattr(fold, name) for fold in folds], np.int32)
        for name in ("block_id", "offset")
    }
    vectors = {
        "q": inputs.queries[head],
        "k": inputs.keys[kv],
        "v": inputs.values[kv],
        "acc": [fold.acc for fold in folds],
        "partial": [fold.output for fold in folds],
        "output": walk.output,
        "dense": walk.dense,
        "error": [*(walk.error(fold.output) for fold in folds), walk.error(walk.output)],
    }
    flat = {name: np.array(value, np.float64).ravel() for name, value in vectors.items()}
    return scalars | places | flat


def source() -> dict[str, Any]:
    """The lines of `paged_attention` with their numbers in its file, and the line of each step.

    The docstring is left out; nothing else is.
    """
    lines, first = inspect.getsourcelines(paged_attention)
    function = ast.parse("".join(lines)).body[0]
    assert isinstance(function, ast.FunctionDef)
    doc = function.body[0]
    shown = [
        [first + i, line.rstrip()]
        for i, line in enumerate(lines)
        if not doc.lineno <= i + 1 <= (doc.end_lineno or 0)
    ]
    at = assignments(function)
    lit = {step: first + at[name][which] - 1 for step, (name, which) in ASSIGNED.items()}
    names = {name: first + numbers[-1] - 1 for name, numbers in at.items()}
    return {"lines": shown, "lit": lit, "names": names}


def assignments(function: ast.FunctionDef) -> dict[str, list[int]]:
    """Line numbers (from 1 at `def`) at which each name is bound; "return" for the return."""
    found: dict[str, list[int]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Return):
            found.setdefault("return", []).append(node.lineno)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, []).append(node.lineno)
    return {name: sorted(numbers) for name, numbers in found.items()}


def holders(inputs: AttentionInput, null_block: bool) -> list[str]:
    """Who holds each block: A those of its table; the others in turn B, C and nobody.

    Only A's blocks are data: the neighbours stand for the other requests of a shared pool. With
    `null_block`, block 0 is vLLM's placeholder, which nobody holds.
    """
    others = cycle(("B", "C", "free"))
    names = ["A" if b in inputs.block_table else next(others) for b in range(inputs.num_blocks)]
    return ["null", *names[1:]] if null_block else names
