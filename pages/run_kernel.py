"""Run the kernel: does the real Triton kernel agree, and how fast is it?"""

from pathlib import Path

import streamlit as st

from kernels.host import expected_kind
from pages.ui import leaves_out, page
from pages.ui.kernel_controls import job_controls
from pages.ui.kernel_panel import control, forecast, progress, results, take_away
from pages.ui.kernel_worker import kernel_worker

page("Run the kernel", "Does the real Triton kernel agree, and how fast is it?")

STYLE = Path(__file__).with_name("figures") / "run_kernel.css"
TURNS = "One run at a time; you can leave the page and return."
HOSTS = {
    "gpu": f"A GPU host: parity and times are measured here. {TURNS}",
    "interpreter": f"No GPU here: the same kernel runs in Triton’s interpreter, in Python. {TURNS}",
    "torch": f"No Triton for this system: torch gathers and attends instead. {TURNS}",
}


worker = kernel_worker()
kind = worker.device.kind if worker.device else expected_kind()
with st.sidebar:
    job = job_controls(kind)
    st.caption(HOSTS[kind])

st.html(STYLE)
run_id = st.session_state.get("kernel_run")
run = worker.look(run_id) if run_id else None
going = run is not None and not run.ended
if run and run.result:
    st.session_state["kernel_result"] = run.result
result = st.session_state.get("kernel_result")


@st.fragment(run_every=0.5 if going else None)
def watch() -> None:
    """The steps of the run; redrawn by itself while one is going."""
    now = worker.look(run_id) if run_id else None
    control(worker, job, kind, now)
    if now and not now.ended:
        progress(now, kind)
    elif going:
        st.rerun()


watch()
if job:
    forecast(job, kind)
results(job, result, kind)
take_away(job, result)

leaves_out(
    "One layer’s attention of one decode step, one query token a sequence: the writer and the "
    "decode kernel are this project’s own, in Triton, over vLLM’s cache layout, block tables and "
    "slot mapping; the kernel reads tiles of 64 tokens whatever the block size. Left out: prefill, "
    "sliding windows, fp8, and the kernels that vLLM 0.26 itself runs."
)
