"""The one kernel worker of this server, which every page that runs the kernel shares."""

import streamlit as st

from kernels.worker import Worker


@st.cache_resource(show_spinner=False)
def kernel_worker() -> Worker:
    """It starts its process at the first run; its queue is everyone's."""
    return Worker()
