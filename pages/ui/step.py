"""The step in the query string of a page that has one walk: read at first, written on each stop."""

import streamlit as st


def asked_step(last: int, opening: int) -> int:
    """The step that the link asks for, when there is one from 0 to `last`; else `opening`."""
    asked = st.query_params.get("step", "")
    valid = asked.isascii() and asked.isdigit() and len(asked) < 10 and int(asked) <= last
    return int(asked) if valid else opening


def keep_step(step: int) -> None:
    """Make the address a link to this step."""
    st.query_params["step"] = str(step)
