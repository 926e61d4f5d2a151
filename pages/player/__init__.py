"""The player: one Streamlit component that plays a log, any stage of it, in the browser.

The log goes to the browser once and nothing comes back while it plays; on a pause, the end of a
scrub, a step or a click the place comes back as a PlayerState. The scripts in js/ are plain: they
are joined here in the order given, and only component.js exports.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from pages.figures.palette import tokens
from sim.columns import unpack_header

SCRIPTS = (
    "theme.js",
    "delta_runs.js",
    "decode.js",
    "element.js",
    "pen.js",
    "narration.js",
    "words_link.js",
    "picture_swatch.js",
    "picture.js",
    "lanes.js",
    "scrubber.js",
    "transport.js",
    "committer.js",
    "playback.js",
    "finder.js",
    "card.js",
    "keyboard.js",
    "place_events.js",
    "readout.js",
    "step_grain.js",
    "player.js",
    "log_rows.js",
    "free_queue.js",
    "replay.js",
    "pool_history.js",
    "keyframes.js",
    "pool_step.js",
    "pool_events.js",
    "pool_check.js",
    "pool_rows.js",
    "pool_block_names.js",
    "pool_hazards.js",
    "pool_event_words.js",
    "pool_words.js",
    "pool_layout.js",
    "pool_order.js",
    "pool_sprites.js",
    "pool_cells.js",
    "pool_marks.js",
    "pool_strips.js",
    "pool_wires.js",
    "pool_mosaic.js",
    "pool_leaders.js",
    "pool_lens.js",
    "pool_panel.js",
    "pool_tip.js",
    "pool_legend.js",
    "pool_painter.js",
    "pool_pointer.js",
    "pool_cursor.js",
    "pool_veil.js",
    "pool_find.js",
    "pool_facts.js",
    "pool_selection.js",
    "pool.js",
    "gather_pen.js",
    "gather_log.js",
    "gather_words.js",
    "gather_code.js",
    "gather_blocks.js",
    "gather_pool.js",
    "gather_scores.js",
    "gather_state.js",
    "gather_output.js",
    "gather_layout.js",
    "gather.js",
    "overview_scene.js",
    "overview_cards.js",
    "overview.js",
    "prefix_state.js",
    "prefix_words.js",
    "prefix_rows.js",
    "prefix_rails.js",
    "prefix_queue.js",
    "prefix_why.js",
    "prefix.js",
    "layout_words.js",
    "layout_memory.js",
    "layout.js",
    "component.js",
)

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class PlayerState:
    """Where the visitor stopped: the step, and the request id and block id selected, if any."""

    step: int
    request: str | None
    block: int | None


def script() -> str:
    """The whole of the player's JavaScript, one module."""
    parts = [(HERE / "js" / name).read_text() for name in SCRIPTS]
    return f"const THEMES = {json.dumps(tokens())};\n" + "\n".join(parts)


_component = st.components.v2.component(
    "pagedattention.player",
    css="\n".join(path.read_text() for path in sorted(HERE.glob("*.css"))),
    js=script(),
)


def player(
    blob: bytes, *, key: str, step: int = 0, request: str | None = None, block: int | None = None
) -> PlayerState:
    """Mount the player on `blob` (sim.columns.pack; the header names `stage` and `num_steps`).

    `step`, `request` and `block` are where it starts when it is mounted; later values change
    nothing, so what came back may be passed in again. A new `blob` keeps the step where it fits.
    """
    last = int(unpack_header(blob)["num_steps"]) - 1
    start = _start(key, {"step": min(max(step, 0), last), "request": request, "block": block})
    result = _component(
        data=blob + json.dumps({"key": key, **start}).encode(),
        key=key,
        default=start,
        on_step_change=lambda: None,
        on_request_change=lambda: None,
        on_block_change=lambda: None,
    )
    return PlayerState(min(max(int(result.step), 0), last), result.request, result.block)


def _start(key: str, place: dict[str, Any]) -> dict[str, Any]:
    """The place of the first run since the player was mounted: the data must not change with it."""
    if key not in st.session_state:
        st.session_state[f"{key}:start"] = place
    start: dict[str, Any] = st.session_state.setdefault(f"{key}:start", place)
    return start
