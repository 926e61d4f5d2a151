"""What a link says of a control that is bound to the query string, when the control cannot be that.

Streamlit drops such a value without a word; here it is said below the control, as long as the page
has not run again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import streamlit as st

from pages.ui.page import complain

Number = TypeVar("Number", int, float)

MOST = 24  # characters of a link's value that are repeated


@contextmanager
def in_link(key: str, would_do: str, shown: Callable[[Any], object] = str) -> Iterator[None]:
    """Around the making of the control with this key: `would_do` says what a link may say.

    `shown` turns the control's value into what the link calls it: a choice's `format_func`.
    """
    asked = None if key in st.session_state else st.query_params.get(key)
    yield
    if asked is None or st.query_params.get(key) == asked:
        return
    value = st.session_state[key]
    if not _same(asked, shown(value)):
        instead = "nothing" if value is None else shown(value)
        complain(f"The link says {key}={asked[:MOST]}; {would_do} would do: shown with {instead}.")


def bound_slider(
    label: str, low: Number, high: Number, value: Number, *, key: str, **options: Any
) -> Number:
    """A slider whose value stands in the link; a link's value that it cannot have is answered."""
    with in_link(key, f"{low:g} to {high:g}"):
        chosen: Number = st.slider(label, low, high, value, key=key, bind="query-params", **options)
    return chosen


def _same(asked: str, value: object) -> bool:
    """Is that the value, in another way of writing?"""
    try:
        return float(asked) == float(str(value))
    except ValueError:
        return asked.lower() == str(value).lower()
