"""The menu: one entry per page script, in the order in which a newcomer reads them."""

from pathlib import Path
from typing import Any

import streamlit as st

PAGES = Path(__file__).parents[1]
MENU = {
    "overview": "Overview",
    "allocation": "Allocation",
    "prefix_sharing": "Prefix sharing",
    "pressure": "Pressure",
    "gather_loop": "Gather loop",
    "memory_layout": "Memory layout",
    "run_kernel": "Run the kernel",
}


def route() -> st.Page:
    """The page that the address asks for, under the menu; asking twice changes nothing.

    The first page lives at / and, as a link may say so, at its own name too.
    """
    first, *others = MENU
    entries = [
        _entry(first, default=True, url_path="home"),
        _entry(first, url_path=first, visibility="hidden"),
        *map(_entry, others),
    ]
    return st.navigation(entries, position="top")


def _entry(name: str, **address: Any) -> st.Page:
    return st.Page(PAGES / f"{name}.py", title=MENU[name], **address)
