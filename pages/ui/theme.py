"""The colours that the visitor sees."""

import streamlit as st

from pages.figures.palette import DARK, LIGHT, Theme


def shown_theme() -> Theme:
    """Light or dark, as Streamlit shows the page now."""
    return DARK if st.context.theme.type == "dark" else LIGHT
