"""The sidebar of *Run the kernel*: whose block tables, which heads and dtype; all in the address.

source    the lesson’s example, the step on screen, or a model’s decode step
scenario  the simulated scenario of the step on screen, and `step` its step; they imply the source
preset    the model whose heads read the tables
batch, context, block_size, table_order, seed    of a model’s decode step
"""

from dataclasses import dataclass
from typing import get_args

import streamlit as st

from kernels import bounds
from kernels.job import DType, Job, JobError, Kind
from kernels.presets import MODELS, Order, decode_step, lesson
from pages.ui.link import MAX_CHARS, decode_scenario, encode_scenario
from pages.ui.number import whole_number
from pages.ui.page import complain
from pages.ui.runs import run_of
from sim.checked import ScenarioError
from sim.scenario import Scenario

LESSON, STEP, MODEL = SOURCES = (
    "The lesson’s example",
    "The step on screen",
    "A model’s decode step",
)
MAX_BATCH, MAX_CONTEXT, MAX_BLOCK_SIZE, MAX_SEED = 64, 32_768, 256, 999_999
NOTHING_SHOWN = (
    "No simulated step is on screen yet: open Allocation or Prefix sharing, stop at a step, and "
    "come back; or take the lesson’s tables."
)


@dataclass(frozen=True, slots=True)
class OnScreen:
    """The simulated step that a page showed last, or that a link names."""

    scenario: Scenario
    step: int
    page: str


def job_controls(kind: Kind) -> Job | None:
    """The job that the sidebar describes; None, and a sentence why, if this host cannot run it."""
    try:
        job = _described_job()
        bounds.check(bounds.fit(job, kind), kind)
        return job
    except (JobError, ScenarioError) as error:
        complain(error)
        return None


def _described_job() -> Job:
    """The job as described. Raises JobError or ScenarioError."""
    _take_what_is_on_screen()
    source = st.selectbox("Block tables of", SOURCES, key="source", bind="query-params")
    if source == STEP:
        return _step_job(_shown())
    for name in ("scenario", "step"):
        st.query_params.pop(name, None)
    if source == LESSON:
        st.caption("A’s six tokens in blocks 3 and 1, with the lesson’s own q, K and V.")
        return lesson(_dtype())
    return _model_job()


def _dtype() -> DType:
    dtype = st.selectbox("dtype", get_args(DType), key="dtype", bind="query-params")
    return next(known for known in get_args(DType) if known == dtype)


def _model() -> str:
    model = st.selectbox("Heads of", tuple(MODELS), key="preset", bind="query-params")
    shape = MODELS[model]
    st.caption(
        f"{shape.num_heads} heads, {shape.num_kv_heads} KV heads, head size {shape.head_size}"
    )
    return model


def _number(label: str, key: str, low: int, high: int, value: int, unit: str) -> int:
    limits = (low, high, unit)
    return whole_number(label, value, limits, instead=value, key=key, bind="query-params")


def _seed() -> int:
    return _number("Seed of q, K and V", "seed", 0, MAX_SEED, 0, "as a seed")


def _model_job() -> Job:
    model = MODELS[_model()]
    dtype = _dtype()
    batch = _number("Sequences", "batch", 1, MAX_BATCH, 8, "sequences")
    context = _number("Tokens in each", "context", 1, MAX_CONTEXT, 4096, "tokens")
    block_size = _number("Block size", "block_size", 1, MAX_BLOCK_SIZE, 16, "tokens")
    order = st.segmented_control(
        "Table order",
        get_args(Order),
        default="shuffled",
        required=True,
        key="table_order",
        bind="query-params",
    )
    assert order is not None
    return decode_step(
        model, (context,) * batch, block_size=block_size, dtype=dtype, order=order, seed=_seed()
    )


def _step_job(shown: OnScreen) -> Job:
    log = run_of(shown.scenario).log
    last = log.num_steps - 1
    step = int(
        st.number_input(
            "Step", 0, last, min(shown.step, last), key=f"step {shown.step} of {last}, {shown.page}"
        )
    )
    _write_link(OnScreen(shown.scenario, step, shown.page))
    frame = log.frame(step)
    st.caption(
        f"From {shown.page}: {shown.scenario.name or 'a scenario'}, block size {frame.block_size}."
    )
    model, dtype = MODELS[_model()], _dtype()
    if not frame.running:
        raise JobError(
            f"Nothing runs at step {step}: take one of 0 to {last} where something does."
        )
    return Job(
        f"{shown.page}, step {step}",
        tuple(tuple(table) for table in frame.block_tables),
        tuple(frame.seq_lens),
        frame.block_size,
        model.num_heads,
        model.num_kv_heads,
        model.head_size,
        dtype,
        _seed(),
    )


def _take_what_is_on_screen() -> None:
    """A page that showed a step since the last look here decides what to run, or a link of one.

    Such a link need not say its `source`: Streamlit does not write one that is set from here.
    """
    if "source" not in st.session_state and "source" not in st.query_params:
        st.session_state["source"] = STEP if "scenario" in st.query_params else LESSON
    seen = st.session_state.get("on_screen")
    if seen is not None and seen is not st.session_state.get("kernel_seen"):
        st.session_state["kernel_seen"] = seen
        st.session_state["kernel_step"] = OnScreen(**seen)
        st.session_state["source"] = STEP


def _shown() -> OnScreen:
    """The step on screen, or the one that the link names."""
    if "kernel_step" not in st.session_state:
        if "scenario" not in st.query_params:
            raise JobError(NOTHING_SHOWN)
        scenario = decode_scenario(st.query_params["scenario"])
        step = st.query_params.get("step", "")
        if not step.isdecimal() or len(step) > 9:
            raise ScenarioError("step", f"the step in this link is {step!r}; a number would do.")
        st.session_state["kernel_step"] = OnScreen(scenario, int(step), "a link")
    shown: OnScreen = st.session_state["kernel_step"]
    return shown


def _write_link(shown: OnScreen) -> None:
    """Put the step into the address, unless the scenario is too long for one: then say so."""
    text = encode_scenario(shown.scenario)
    if len(text) <= MAX_CHARS:
        st.query_params["scenario"], st.query_params["step"] = text, str(shown.step)
    else:
        st.caption("This scenario is too long for a link: take the job’s JSON away instead.")
