"""The menu: one entry per page script, in the order in which a newcomer reads them."""

from pathlib import Path

import streamlit as st

PAGES = Path(__file__).parents[1]
MENU = {
    "overview": "Overview",
    "allocation": "Allocation",
    "prefix_sharing": "Prefix sharing",
    "pressure": "Pressure",
    "gather_loop": "Gather loop",
    "run_kernel": "Run the kernel",
}


def route() -> st.Page:
    """The page that the address asks for, under the menu; asking twice changes nothing."""
    entries = [st.Page(PAGES / f"{name}.py", title=title) for name, title in MENU.items()]
    return st.navigation(entries, position="top")
