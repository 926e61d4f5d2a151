"""The lesson's example as the player's log: written through slot_mapping, gathered, compared."""

import numpy as np

from pages.figures.gather import holders, walk_columns, walk_header
from sim.attention import BlockVisited, TokenWritten, Walk
from sim.attention_input import AttentionInput
from sim.columns import Column, pack

PHASES = ("empty", "write", "block", "fold", "compare")


def overview_blob(inputs: AttentionInput, written: list[TokenWritten], walk: Walk) -> bytes:
    """The log of the stage "overview": a position per token written, block visited, token read."""
    rows = overview_steps(written, walk)
    header = {
        "stage": "overview",
        "num_steps": len(rows),
        "phases": PHASES,
        **walk_header(inputs, 0, holders(inputs, null_block=False)),
    }
    kinds, tokens, blocks = zip(*rows, strict=True)
    steps: dict[str, Column] = {
        "kind": np.array([PHASES.index(kind) for kind in kinds], np.uint8),
        "token": np.array(tokens, np.int32),
        "logical": np.array(blocks, np.int32),
        "slot": np.array([write.slot for write in written], np.int32),
    }
    return pack(header, steps | walk_columns(inputs, walk, 0))


def overview_steps(written: list[TokenWritten], walk: Walk) -> list[tuple[str, int, int]]:
    """Per position: the phase, the last token written or read, the logical block; −1 for none."""
    rows = [("empty", -1, -1)]
    logical = {event.block_id: event.logical_block for event in walk.visits}
    rows += [("write", write.position, logical[write.block_id]) for write in written]
    token = block = -1
    for event in walk.events:
        if isinstance(event, BlockVisited):
            block = event.logical_block
            rows.append(("block", token, block))
        else:
            token = event.position
            rows.append(("fold", token, block))
    return [*rows, ("compare", token, -1)]
