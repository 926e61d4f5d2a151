"""What the Allocation page shows of a run: the player, and below it the step it stands at."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.player import player
from pages.ui.address import write_address
from pages.ui.allocation_waste import waste_over_time
from pages.ui.block_life import show_life
from pages.ui.block_tables import block_tables, downloads
from pages.ui.draft import Draft
from pages.ui.page import complain
from pages.ui.reasons import why_block
from pages.ui.runs import on_screen, run_of
from pages.ui.stalled import why_stalled
from pages.ui.waste_table import waste_table
from sim.event_log import EventLog
from sim.frame import Frame, RequestFrame


@st.fragment
def allocation_stage(draft: Draft) -> None:
    """The player on the draft's run; where it stands goes to the address and to other pages."""
    run = run_of(draft.good)
    state = player(
        run.pool_blob,
        key=draft.key("player"),
        step=draft.step,
        request=draft.request,
        block=draft.block,
    )
    draft.move(state.step, state.request, state.block)
    frame = run.log.frame(draft.step)
    if run.log.stalled:
        complain(why_stalled(run.log))
    _token(draft, run.log, frame)
    _life(draft, run.log)
    block_tables(frame)
    waste_table(run, frame)
    downloads(run.log, frame)
    waste_over_time(run, frame.step)
    write_address(draft)
    on_screen(draft.good, draft.step, "Allocation")


def _life(draft: Draft, log: EventLog) -> None:
    """What happened to the block that is picked in the player."""
    if draft.block and draft.block < log.scenario.num_gpu_blocks:
        key = draft.key("life")
        show_life(log, draft.step, draft.block, player=draft.key("player"), key=key)


def _token(draft: Draft, log: EventLog, frame: Frame) -> None:
    """Where one token lives, and how its block came into the table."""
    request = _request(draft, frame)
    if request is None:
        st.markdown(f"No request holds a block at step {frame.step:,}.")
        return
    name, size = request.request_id, frame.block_size
    where, why = st.columns(2, gap="medium")
    with where:
        title = st.empty()
        line = st.container(horizontal=True, vertical_alignment="bottom")
        token = _choose_token(line, draft, request, size)
        logical, offset = divmod(token, size)
        block = request.block_table[logical]
        slot = block * size + offset
        title.markdown(f"**Why token {token:,} of {name} is in slot {slot:,}**")
        line.code(
            f"{token} // {size} = {logical}  →  block_table[{logical}] = {block}\n"
            f"{token} %  {size} = {offset}  →  {block} × {size} + {offset} = {slot}",
            language=None,
        )
    why.markdown(f"**Why block {block}**  \n{why_block(log, frame.step, name, block)}")


def _request(draft: Draft, frame: Frame) -> RequestFrame | None:
    """The request picked in the player while it holds blocks, else the last one admitted."""
    holders = [frame.requests[name] for name in frame.running if frame.requests[name].block_table]
    picked = (request for request in holders if request.request_id == draft.request)
    return next(picked, holders[-1] if holders else None)


def _choose_token(
    place: DeltaGenerator, draft: Draft, request: RequestFrame, block_size: int
) -> int:
    """The token asked about: at first the last one computed, or the last one in a picked block."""
    computed = request.num_computed_tokens
    default = computed - 1
    if draft.block in request.block_table:
        default = min(default, (request.block_table.index(draft.block) + 1) * block_size - 1)
    wanted = default if draft.token is None else min(draft.token, computed - 1)
    token = place.number_input(
        f"Token *t* of {request.request_id}",
        0,
        computed - 1,
        wanted,
        width=150,
        key=draft.key(f"token.{draft.step}.{request.request_id}.{draft.block}"),
    )
    draft.token = None if token == default else token
    return token
