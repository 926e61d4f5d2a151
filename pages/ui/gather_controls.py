"""The controls of Gather loop: whose numbers, how many, and in which blocks they lie."""

from dataclasses import dataclass

import streamlit as st

from pages.ui.in_link import bound_slider, in_link
from pages.ui.number import whole_number
from sim.attention_input import LESSON, AttentionInput, TableOrder, random_input

LENGTHS, HEAD_SIZES, GROUPS, BLOCK_SIZES = 64, 64, 8, 32
ORDERS: tuple[TableOrder, ...] = ("scattered", "reversed", "in order")


@dataclass(frozen=True, slots=True)
class Choice:
    """What the visitor looks at: the input, the query head to follow, and is block 0 reserved?"""

    inputs: AttentionInput
    head: int
    null_block: bool


def gather_controls() -> Choice:
    """The controls, in the sidebar; all of them are bound to the query string."""
    with st.sidebar:
        seed = _seed()
        numbers = _numbers(seed)
        block_size = _size("Block size", BLOCK_SIZES, 4, "block_size")
        with in_link("order", ", ".join(ORDERS)):
            order = st.selectbox("Table order", ORDERS, key="order", bind="query-params")
        head = _head(len(numbers.queries))
    if seed is None and (block_size, order) == (LESSON.block_size, "scattered"):
        return Choice(numbers, head, null_block=False)
    return Choice(numbers.placed(block_size, order, seed or 0), head, null_block=True)


def _seed() -> int | None:
    return whole_number(
        "Seed",
        None,
        (0, 999_999, "for other numbers"),
        instead=None,
        placeholder="lesson",
        help="Empty: the lesson’s own numbers. A number draws other q, K and V.",
        key="seed",
        bind="query-params",
    )


def _numbers(seed: int | None) -> AttentionInput:
    lesson = seed is None
    seq_len = _size("Sequence length", LESSON.seq_len if lesson else LENGTHS, 6, "seq_len")
    head_size = _size("Head size", HEAD_SIZES, 4, "head_size", fixed=lesson)
    group = _size("Query heads per KV head", GROUPS, 1, "group", fixed=lesson)
    if seed is None:
        st.caption("The lesson has six tokens, head size 4 and one head. Give a seed for others.")
        return LESSON.first(seq_len)
    return random_input(seed, seq_len, head_size, group, 1)


def _size(label: str, most: int, value: int, key: str, fixed: bool = False) -> int:
    """A slider from 1 to `most`; a fixed one only shows `value`."""
    if fixed:
        return st.slider(label, 1, most, value, disabled=True)
    return bound_slider(label, 1, most, value, key=key)


def _head(group: int) -> int:
    """Which query head the player follows; asked only when there is a choice."""
    if group == 1:
        return 0
    with in_link("query_head", f"0 to {group - 1}"):
        return st.segmented_control(
            "Query head to follow",
            range(group),
            default=0,
            required=True,
            help="All of them read the same keys and values: those of KV head 0.",
            key="query_head",
            bind="query-params",
        )
