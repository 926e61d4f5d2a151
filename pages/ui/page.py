"""The frame around every page: title and question on top, facts at the end."""

from collections.abc import Iterable
from pathlib import Path

import streamlit as st

from pages.ui.router import route

HERE = Path(__file__).parent
STYLE, LOGO, ICON = HERE / "page.css", HERE / "logo.svg", HERE / "icon.svg"
SIDEBAR_WIDTH = 264


def page(title: str, question: str, badges: Iterable[str] = ()) -> None:
    """Set up the page and write its head; the first call of every page script.

    On a freshly started server Streamlit runs the script of a deep link without app.py, so the
    menu is asked for here too.
    """
    st.set_page_config(
        page_title=f"{title} · PagedAttention",
        page_icon=ICON,
        layout="wide",
        initial_sidebar_state=SIDEBAR_WIDTH,
    )
    st.logo(LOGO)
    st.html(STYLE)
    route()
    head = st.container(horizontal=True, vertical_alignment="bottom", key="head")
    head.title(title, anchor=False, width="content")
    head.markdown(f":gray[{question}]", width="stretch")
    head.markdown(" ".join(f":gray-badge[{badge}]" for badge in badges), width="content")


def complain(error: Exception | str) -> None:
    """One sentence beside the control that took a wrong input."""
    st.markdown(f"**:material/error: {plain(str(error))}**")


def plain(text: str) -> str:
    """Text that Markdown shows as it is: what a visitor or a link says may hold any character."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>$:~|" else char for char in text)


def leaves_out(text: str) -> None:
    """The box at the end of a page: what it models, what it leaves out, checked against what."""
    with st.container(border=True):
        st.markdown(f"**What this models, and what it leaves out**  \n{text}")
