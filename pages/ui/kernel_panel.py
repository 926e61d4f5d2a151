"""The panel of *Run the kernel*: the run's steps, parity beside time, and what to take away."""

import json
from functools import partial

import pandas as pd
import streamlit as st

from kernels import bounds
from kernels.job import TOLERANCE, TOLERANCE_REASON, Job, JobError, Kind, Result, Timing
from kernels.recorded import Point, Recording, latest
from kernels.worker import Run, Worker
from pages.figures.kernel_times import bytes_moved, times
from pages.figures.run_steps import line, steps
from pages.figures.words import scientific, size
from pages.ui.page import complain
from pages.ui.theme import shown_theme

WHERE: dict[Kind, str] = {
    "gpu": "on the GPU",
    "interpreter": "in the interpreter",
    "torch": "with torch",
}

FIRST_SHOWN = "Llama-3.1-8B 8×4k"  # of what was recorded
MAX_TABLES, MAX_IDS, MAX_OUTPUTS = 6, 8, 256
READING = """
**Reading it.** Every point below the line agrees with float64; an output without any error is a
ring on the floor. The reference is dense attention over the tokens themselves: it never sees the
cache or a block table, so it checks the writer, the gather and the arithmetic. All slots that hold
no token are NaN: reading one would show.

**Two panels, no common axis.** Parity is computed on this host. Times are measured on the GPU that
is named above them, or are not there.
"""


def control(worker: Worker, job: Job | None, kind: Kind, run: Run | None) -> None:
    """The steps of the run, with the one button that fits: Run or Cancel."""
    going = run is not None and not run.ended
    marks = steps(
        run.state if run else None, run.ahead if run else 0, WHERE[kind], kind == "gpu", bool(job)
    )
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.html(line(marks), width="stretch")
        if going:
            assert run is not None
            if st.button("Cancel"):
                worker.cancel(run.id)
                st.rerun()
        elif st.button(_verb(job, kind), type="primary", disabled=not job):
            assert job is not None
            _submit(worker, bounds.fit(job, kind))
            st.rerun()
    refused = st.session_state.pop("kernel_refused", None) or (run and run.sentence)
    if refused:
        complain(refused)


def _verb(job: Job | None, kind: Kind) -> str:
    return "Run the cut" if job and bounds.fit(job, kind) is not job else "Run"


def _submit(worker: Worker, job: Job) -> None:
    try:
        st.session_state["kernel_run"] = worker.submit(job)
    except JobError as error:
        st.session_state["kernel_refused"] = str(error)


def progress(run: Run, kind: Kind) -> None:
    """How long the run has been at it, against what was estimated."""
    if run.state == "queued":
        return
    about = bounds.seconds(run.job) if kind == "interpreter" else 0
    share = min(0.99, run.seconds / (about + 3))  # 3 s: the first run imports torch
    estimate = f" of about {about + 3:.0f} s" if about else " s"
    st.progress(share, f"{run.seconds:.1f}{estimate}")


def forecast(job: Job, kind: Kind) -> None:
    """What would run, its tolerance with the reason, and what is cut away and why."""
    st.markdown(
        f"**{_shape(job)}** · {size(job.kv_bytes)} of K and V · tolerance "
        f"**{scientific(TOLERANCE[job.dtype])}**: {TOLERANCE_REASON[job.dtype]}."
    )
    cut = bounds.fit(job, kind)
    if cut is not job:
        try:
            bounds.check(job, kind)
        except JobError as too_large:
            st.markdown(f"{too_large} **Run the cut** takes {bounds.describe_cut(job, cut)}.")


def results(job: Job | None, result: Result | None, kind: Kind) -> None:
    """Left parity, computed on this host; right times, of this run or of a recording."""
    left, right = st.columns(2, gap="medium", border=True)
    with left:
        st.markdown("**Parity** :small[|kernel − float64 reference| for each output]")
        if result:
            _parity(result)
        elif job:
            _before(job)
    with right:
        st.markdown("**Time** :small[one call of the attention kernel]")
        _times(result, latest())
        st.markdown(READING)


def _before(job: Job) -> None:
    """What the kernel will read, while nothing has run."""
    rows = list(zip(job.seq_lens, job.block_tables, strict=True))
    names = ["tokens", "block table"]
    shown = [(f"{seq_len:,}", _ids(table)) for seq_len, table in rows[:MAX_TABLES]]
    st.table(pd.DataFrame(shown, columns=names).rename_axis("sequence"))
    if len(rows) > MAX_TABLES:
        st.caption(f"and {len(rows) - MAX_TABLES:,} more sequences")


def _ids(table: tuple[int, ...]) -> str:
    ids = ", ".join(str(block) for block in table[:MAX_IDS])
    return ids if len(table) <= MAX_IDS else f"{ids}, … {len(table):,} blocks"


def _parity(result: Result) -> None:
    from pages.figures.run_kernel import num_drawn, parity

    st.caption(f"{result.device} · {_shape(result.job)} · {_contents(result)}")
    figure = parity(result, shown_theme())
    st.plotly_chart(
        figure,
        theme=None,
        key="parity",
        alt=f"Errors of {result.error.size:,} outputs, worst {result.worst:.2e}, against the "
        f"tolerance {result.tolerance:.2e}.",
        config={"displaylogo": False, "toImageButtonOptions": {"format": "svg"}},
    )
    total, exact = result.error.size, int((result.error == 0).sum())
    drawn = num_drawn(result)
    note = f" · {drawn:,} drawn" if drawn < total else ""
    st.markdown(
        f"● one output **{total:,}**{note} · outside tolerance **{result.outside:,}** · "
        f"○ exact **{exact:,}** · worst **{scientific(result.worst)}**"
    )


def _times(result: Result | None, recording: Recording | None) -> None:
    if result and result.timing:
        st.caption(f"Measured on {result.device} · {_method(result.timing)}")
        st.html(times(Point.of(result)))
        return
    if result:
        st.caption(
            f"The call took {result.seconds:.2f} s here, on {result.device.name}: not a time of "
            "the kernel, and not meaningful as one."
        )
    st.html(times(_recorded(recording) if recording else None))


def _recorded(recording: Recording) -> Point:
    """The point of a recording that the visitor chose."""
    names = [point.name for point in recording.points]
    first = names.index(FIRST_SHOWN) if FIRST_SHOWN in names else 0
    chosen = st.selectbox("Recorded", names, first, key="recorded", bind="query-params")
    point = recording.points[names.index(chosen)]
    st.caption(
        f"Recorded on {recording.device} · {recording.date} · median of CUDA graphs · "
        f"{bytes_moved(point)}"
    )
    return point


def _method(timing: Timing) -> str:
    return (
        f"median of {len(timing.samples_us)} CUDA graphs of {timing.launches:,} launches each, "
        f"spread {timing.spread:.1%} (10–90 %), {timing.copies} copies of the cache read in turn: "
        f"{size(timing.copies_bytes)} against {size(timing.l2_bytes)} of L2"
    )


def take_away(job: Job | None, result: Result | None) -> None:
    """Outputs beside the reference and errors per sequence; all outputs as CSV, the job as JSON."""
    if result:
        outputs, sequences = st.columns(2, gap="medium")
        outputs.markdown(f"**Outputs** :small[the first of {result.error.size:,}, all in the CSV]")
        outputs.dataframe(
            _outputs(result).head(MAX_OUTPUTS),
            hide_index=True,
            column_config={
                "kernel": st.column_config.NumberColumn(format="%.6f"),
                "float64": st.column_config.NumberColumn(format="%.6f"),
                "error": st.column_config.NumberColumn(format="%.2e"),
            },
        )
        sequences.markdown("**Sequences**")
        sequences.dataframe(_per_sequence(result), hide_index=True, height="auto")
    with st.container(horizontal=True):
        if result:
            st.download_button(
                "Outputs, CSV", partial(_csv, result), "outputs.csv", "text/csv", on_click="ignore"
            )
        shown = result.job if result else job
        if shown:
            text = partial(json.dumps, shown.to_json())
            st.download_button("Job, JSON", text, "job.json", on_click="ignore")


def _per_sequence(result: Result) -> pd.DataFrame:
    per_seq = result.error.reshape(result.job.num_seqs, -1)
    return pd.DataFrame(
        {
            "sequence": range(result.job.num_seqs),
            "tokens": result.job.seq_lens,
            "blocks": [-(-seq_len // result.job.block_size) for seq_len in result.job.seq_lens],
            "worst error": [scientific(error) for error in per_seq.max(1)],
            "outside": (per_seq > result.tolerance).sum(1),
            "exact": (per_seq == 0).sum(1),
        }
    )


def _outputs(result: Result) -> pd.DataFrame:
    """One row an output: where it is, what the kernel gave, and the float64 reference."""
    names = ["sequence", "head", "dimension"]
    index = pd.MultiIndex.from_product([range(n) for n in result.output.shape], names=names)
    columns = {"kernel": result.output, "float64": result.reference, "error": result.error}
    table = pd.DataFrame({name: values.ravel() for name, values in columns.items()}, index=index)
    return table.reset_index()


def _csv(result: Result) -> str:
    return str(_outputs(result).to_csv(index=False))


def _shape(job: Job) -> str:
    lengths = f"{min(job.seq_lens):,}"
    if min(job.seq_lens) != max(job.seq_lens):
        lengths += f" to {max(job.seq_lens):,}"
    seqs = f"{job.num_seqs:,} sequence{'s' * (job.num_seqs != 1)} of {lengths} tokens"
    heads = f"{job.num_heads} / {job.num_kv_heads} heads of {job.head_size}"
    return f"{job.name}: {seqs}, {heads}, block {job.block_size}, {job.dtype}"


def _contents(result: Result) -> str:
    return "given by the lesson" if result.job.given else f"seed {result.job.seed}"
