"""The sidebar of Prefix sharing: whose prompts, when they come, and how large blocks and pool are.

All controls are bound to the query string. Their keys carry the example's name, so another example
means other controls, filled with its own values.
"""

from itertools import permutations
from typing import get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.figures.prefix_tokens import Tokens
from pages.ui.in_link import bound_slider, in_link
from pages.ui.number import whole_number
from pages.ui.page import complain
from pages.ui.prompt_examples import PROMPT_EXAMPLES, PromptExample, point_of
from pages.ui.prompts import (
    BLOCK_SIZES,
    FEWEST,
    IDS,
    MAX_ARRIVAL,
    MAX_OUTPUTS,
    POOLS,
    Prompt,
    finishing,
    num_tokens,
    scenario_of,
)
from sim.checked import ScenarioError
from sim.scenario import Scenario, Version

TITLES = {example.title: example for example in PROMPT_EXAMPLES}
PLACE = ("step", "request", "block")  # where the player stands, in the query string
AS_ANSWERED = "as the answers end"


def choose_example() -> PromptExample:
    """The example that the controls are filled with at first, its prompts cut as asked.

    It stands where it is called: in the sidebar.
    """
    with in_link("example", "a title of the list"):
        title = st.selectbox(
            "Example", TITLES, key="example", bind="query-params", on_change=_forget_place
        )
    example = TITLES[title]
    shows = st.empty()
    with in_link(f"{example.slug}.tokens", ", ".join(get_args(Tokens))):
        tokens: Tokens = st.segmented_control(
            "Tokens are",
            get_args(Tokens),
            default="words",
            required=True,
            key=f"{example.slug}.tokens",
            bind="query-params",
            help="A word; a byte of UTF-8; or the ids themselves, typed. A·0 is the first token of "
            "A’s answer, as a word or among ids.",
        )
    example = example.cut_into(tokens)
    shows.caption(point_of(example))
    return example


def _forget_place() -> None:
    for name in PLACE:
        st.query_params.pop(name, None)


def prompt_controls(example: PromptExample) -> Scenario:
    """The scenario of what is typed; the last one that would do while it will not.

    What is wrong is said beside the control that took it.
    """
    with st.sidebar:
        texts, beside = _texts(example)
        block_size, num_gpu_blocks = _sizes(example)
        beside["num_gpu_blocks"] = st.container()
        version = _version(example)
        order = _finish_order(example, list(texts))
        beside["finish"] = st.container()
        prompts = _prompts(example, texts, order)
    kept = f"{example.keys}.good"
    good: Scenario = st.session_state.get(kept, example.scenario)
    try:
        prompts = finishing(prompts, order) if order else prompts
        sizes = (block_size, num_gpu_blocks)
        good = scenario_of(example.title, prompts, *sizes, version, example.tokens)
    except ScenarioError as error:
        with beside[error.field]:
            complain(error)
    st.session_state[kept] = good
    return good


def _sizes(example: PromptExample) -> tuple[int, int]:
    """Tokens a block holds, and blocks in the pool."""
    block_size = bound_slider(
        "Block size",
        *BLOCK_SIZES,
        example.block_size,
        key=f"{example.keys}.block_size",
        help="Tokens a KV block holds. vLLM’s default is 16.",
    )
    num_gpu_blocks = bound_slider(
        "Physical blocks",
        *POOLS,
        example.num_gpu_blocks,
        key=f"{example.keys}.blocks",
        help="num_gpu_blocks, the null block 0 included.",
    )
    return block_size, num_gpu_blocks


def _version(example: PromptExample) -> Version:
    """Whose free order: the one rule that changed between the versions."""
    with in_link(f"{example.keys}.version", " or ".join(get_args(Version))):
        version: Version = st.segmented_control(
            "Free order of vLLM",
            get_args(Version),
            default=example.version,
            required=True,
            key=f"{example.keys}.version",
            bind="query-params",
            help="Where freed blocks without a hash go: since 0.26.0 to the head of the free "
            "queue, so they are taken next; before to its tail, as all others.",
        )
    return version


def _finish_order(example: PromptExample, ids: list[str]) -> str:
    """The requests in the order in which they end; empty as long as the answers decide."""
    orders = {", ".join(order): "".join(order) for order in permutations(ids)}
    with in_link(f"{example.keys}.finish", "an order of the list"):
        chosen = st.selectbox(
            "Finish order",
            [AS_ANSWERED, *orders],
            key=f"{example.keys}.finish",
            bind="query-params",
            help="Answers as long as it takes to end in this order, a step apart, once all have "
            "come; who waits or is preempted ends later.",
        )
    return orders.get(chosen, "")


def _texts(example: PromptExample) -> tuple[dict[str, str], dict[str, DeltaGenerator]]:
    """What is typed, by request, and the place beside it for what is wrong with it."""
    with in_link(f"{example.keys}.prompts", f"{FEWEST} to {len(IDS)}"):
        count = st.segmented_control(
            "Prompts",
            range(FEWEST, len(IDS) + 1),
            default=len(example.prompts),
            required=True,
            key=f"{example.keys}.prompts",
            bind="query-params",
        )
    texts, beside = {}, {}
    for id in IDS[:count]:
        texts[id], beside[id] = _text(example, id)
    return texts, beside


def _text(example: PromptExample, id: str) -> tuple[str, DeltaGenerator]:
    """A text area whose label counts what it holds; words and bytes are read from the same."""
    keys = example.keys if example.tokens == "ids" else example.slug
    with st.container(gap=None):
        label, area, beside = st.empty(), st.empty(), st.container()
    text = area.text_area(
        f"Prompt {id}",
        example.prompt(id).text,
        height=68,
        label_visibility="collapsed",
        key=f"{keys}.{id}",
        bind="query-params",
    )
    label.markdown(f"**{id}** :gray[:small[{num_tokens(text, example.tokens)} tokens]]")
    return text, beside


def _prompts(example: PromptExample, texts: dict[str, str], order: str) -> list[Prompt]:
    """The prompts with what else there is to say about each; the last one's salt lies open."""
    last = list(texts)[-1]
    salt_of_last = st.container()
    details = st.expander("Arrival, answer, salt")
    prompts = []
    for id, text in texts.items():
        row = details.container()
        arrives, outputs = _times(row, example, id, fixed=bool(order))
        salt = _salt(salt_of_last if id == last else row, example, id)
        prompts.append(Prompt(text, arrives, outputs, salt))
    return prompts


def _times(place: DeltaGenerator, example: PromptExample, id: str, fixed: bool) -> tuple[int, int]:
    """When a request comes, and how many tokens it is answered with.

    `fixed`: the finish order says how long the answer is.
    """
    default = example.prompt(id)
    left, right = place.columns(2)
    arrives = whole_number(
        f"{id} comes at step",
        default.arrives,
        (0, MAX_ARRIVAL, "steps"),
        instead=default.arrives,
        place=left,
        key=f"{example.keys}.{id}.comes",
        bind="query-params",
        help="The engine’s step. The player counts only steps that are run, not idle ones.",
    )
    outputs = whole_number(
        "answer, tokens",
        default.outputs,
        (1, MAX_OUTPUTS, "tokens"),
        instead=default.outputs,
        place=right,
        disabled=fixed,
        key=f"{example.keys}.{id}.answer",
        bind="query-params",
        help="Tokens that nobody else has. The last one’s K and V are never computed.",
    )
    return arrives, outputs


def _salt(place: DeltaGenerator, example: PromptExample, id: str) -> str:
    return place.text_input(
        f"Cache salt of {id}",
        example.prompt(id).salt,
        placeholder="none",
        key=f"{example.keys}.{id}.salt",
        bind="query-params",
        help="cache_salt: only requests with the same salt can share blocks.",
    )
