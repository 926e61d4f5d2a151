"""The controls of an uploaded trace."""

import streamlit as st

from pages.ui.draft import Draft
from pages.ui.number import whole_number
from pages.ui.page import complain, plain
from pages.ui.trace import FIRST, MS_PER_STEP, TraceChoice, Upload, read_trace
from sim.checked import ScenarioError
from sim.scenario import RequestSpec

Requests = tuple[RequestSpec, ...]


def traced_requests(draft: Draft) -> tuple[Requests, TraceChoice | None]:
    """The requests of the uploaded file and the choice they were read with; none before a file.

    Raises ScenarioError when the file cannot be read and there is none before it to go on with.
    """
    new = _uploaded(draft)
    read = draft.shown or draft.choice
    first = whole_number(
        "First requests",
        draft.choice.first,
        FIRST,
        instead=read.first,
        key=draft.key("first"),
    )
    ms_per_step = whole_number(
        "Milliseconds a step",
        draft.choice.ms_per_step,
        MS_PER_STEP,
        instead=read.ms_per_step,
        key=draft.key("ms_per_step"),
        help="An assumption: a trace has arrival times, but no engine steps.",
    )
    if new is not None:
        try:
            return _read(draft, new, first, ms_per_step)
        except ScenarioError as error:
            if draft.upload is None:
                raise
            complain(error)
    if draft.upload is None:
        return (), None
    return _read(draft, draft.upload, first, ms_per_step)


def _uploaded(draft: Draft) -> Upload | None:
    if draft.awaits_file:
        st.markdown(wanted(draft.choice))
    file = st.file_uploader(
        "Trace",
        type=["jsonl", "gz"],
        key=draft.key("file"),
        help="One JSON object a line. Mooncake’s format: timestamp, input_length, output_length, "
        "hash_ids. Or the requests that a recorded vLLM run served: request_id, input_toks, "
        "output_toks, arrival_time and the times of the engine.",
    )
    if file is None:
        return None
    if draft.upload and draft.upload.id == file.file_id:
        return draft.upload
    return Upload(file.file_id, file.name, file.getvalue())


def wanted(choice: TraceChoice) -> str:
    """Which file a link is about, in one sentence."""
    return (
        f"This link shows the first {choice.first:,} requests of **{plain(choice.file)}** "
        f"(SHA-256 {choice.digest}…): upload that file to see them."
    )


def _read(
    draft: Draft, upload: Upload, first: int, ms_per_step: int
) -> tuple[Requests, TraceChoice]:
    choice = TraceChoice(upload.name, upload.digest, first, ms_per_step)
    requests = read_trace(upload, choice)
    draft.upload = upload
    if draft.choice.digest not in ("", upload.digest):
        complain(f"This is not the file of the link, whose SHA-256 is {draft.choice.digest}….")
    prompts = sum(spec.prompt.num_tokens for spec in requests)
    outputs = sum(spec.max_tokens for spec in requests)
    longest = max(requests, key=lambda spec: spec.prompt.num_tokens + spec.max_tokens)
    st.caption(
        f"{upload.name}: {len(requests):,} requests, {prompts:,} prompt and {outputs:,} output "
        f"tokens, over {requests[-1].arrival_step + 1:,} steps of {ms_per_step} ms. The longest "
        f"has {longest.prompt.num_tokens:,} + {longest.max_tokens:,} tokens."
    )
    return requests, choice
