"""What pages share and Streamlit owns: the frame around a page, links, cached runs, sentences."""

from pages.ui.page import complain, leaves_out, page

__all__ = ["complain", "leaves_out", "page"]
