"""A whole number that a visitor types or a link says, checked here and answered beside it.

Streamlit's own bounds are kept by the browser, which only draws a red edge, and drop a link's value
without a word.
"""

from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.in_link import in_link
from pages.ui.limits import within
from pages.ui.page import complain
from sim.checked import ScenarioError

Number = TypeVar("Number", int, int | None)
Limits = tuple[int, int, str]  # lowest, highest, unit


def whole_number(
    label: str,
    value: Number,
    limits: Limits,
    *,
    instead: Number,
    place: DeltaGenerator | None = None,
    **options: Any,
) -> Number:
    """What the control says, or `instead` under one sentence when it is out of its limits."""
    box = (place or st).container(gap=None)
    low, high, unit = limits
    with box, in_link(str(options.get("key")), f"{low:,} to {high:,} {unit}"):
        typed = st.number_input(label, value=value, step=1, **options)
    if typed is None:
        return value
    try:
        return within(label, int(typed), low, high, unit)
    except ScenarioError as error:
        with box:
            complain(error)
        return instead
