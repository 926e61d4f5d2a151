"""Long work of a page, under a bar with a button that ends it and leaves the last result on screen.

It must be done outside of fragments: a button of a fragment waits until the script is through.
"""

from collections.abc import Callable, Hashable
from time import monotonic
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

QUIET = 0.3  # seconds without a bar: most work is done then
PAUSE = 0.1  # seconds between two moves of the bar

Asked = TypeVar("Asked", bound=Hashable)
Show = Callable[[float, str], object]


def done(page: str, asked: Asked, work: Callable[[Show], object]) -> Asked | None:
    """`asked` when its work is done; what the page showed before, or None, when it was cancelled.

    `work` is called with a function that moves the bar, a share from 0 to 1 and words. When another
    control is moved meanwhile, that ends it too, as Streamlit starts over.
    """
    shown, cancelled = f"{page}:shown", f"{page}:cancelled"
    place = st.empty()  # also when there is nothing to wait for: what follows keeps its place
    if st.session_state.get(cancelled) == asked:
        _say_so(place, page, has_shown=shown in st.session_state)
        kept: Asked | None = st.session_state.get(shown)
        return kept
    st.session_state.pop(cancelled, None)
    work(Bar(place, f"{page}:cancel", lambda: st.session_state.update({cancelled: asked})).show)
    place.empty()
    st.session_state[shown] = asked
    return asked


def _say_so(place: DeltaGenerator, page: str, has_shown: bool) -> None:
    with place.container(horizontal=True, vertical_alignment="center"):
        kept = "on screen is what was there before" if has_shown else "there is nothing to show yet"
        st.markdown(f"**Cancelled**: {kept}.", width="content")
        st.button(
            "Start again",
            key=f"{page}:again",
            on_click=lambda: st.session_state.pop(f"{page}:cancelled", None),
        )


class Bar:
    """A progress bar, with a button beside it that calls `cancel` in the run that it starts."""

    def __init__(self, place: DeltaGenerator, key: str, cancel: Callable[[], None]) -> None:
        self._place, self._key, self._cancel = place, key, cancel
        self._bar: DeltaGenerator | None = None
        self._next = monotonic() + QUIET

    def show(self, share: float, words: str) -> None:
        """Move it, now and then; this is where Streamlit may end the script."""
        if monotonic() < self._next:
            return
        self._next = monotonic() + PAUSE
        if self._bar is None:
            with self._place.container(horizontal=True, vertical_alignment="bottom"):
                self._bar = st.empty()
                st.button("Cancel", key=self._key, on_click=self._cancel)
        self._bar.progress(min(share, 1.0), words)
