"""The sidebar of Pressure: which load, how it comes, and the engine that has to bear it.

All controls are bound to the query string. Their keys carry the example's slug, so another example
means other controls, filled with its own values.
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import streamlit as st

from pages.ui.in_link import bound_slider, in_link
from pages.ui.limits import LIMITS, MAX_REQUESTS, check_limits
from pages.ui.number import Limits, whole_number
from pages.ui.page import complain
from pages.ui.pressure_asked import Asked
from pages.ui.pressure_examples import PRESSURE_EXAMPLES, PressureExample
from pages.ui.pressure_trace import TRACE, trace_draft, trace_requests
from pages.ui.trace import ENGINE
from pages.ui.uploaded import FILE, uploaded_scenario
from sim.checked import ScenarioError
from sim.load import Load, requests_of
from sim.scenario import Scenario

TITLES = {example.title: example for example in PRESSURE_EXAMPLES}
PLACE = ("step", "request", "trace")  # of what is shown, in the query string

COUNTS: dict[str, tuple[str, Limits]] = {
    "num_requests": ("Requests", (1, MAX_REQUESTS, "requests")),
    "prompt": ("Prompt, median tokens", (1, 32_768, "tokens")),
    "output": ("Output, median tokens", (1, 32_768, "tokens")),
    "shared": ("Shared first tokens", (0, 32_768, "tokens")),
    "seed": ("Seed", (0, 1_000_000, "for a seed")),
}
ENGINE_COUNTS = {
    "num_gpu_blocks": "Physical blocks",
    "max_num_seqs": "Requests at once",
    "max_num_batched_tokens": "Tokens a step",
    "max_model_len": "Longest request, tokens",
}
DEFAULTS = {"enable_prefix_caching": True, "policy": "fcfs"}  # of an example that says neither
RATES = (0.0, 10.0)
SPREADS = (0.0, 1.5)
POLICIES = {"fcfs": "First come, first served", "priority": "Priority"}
HELP = {
    "num_gpu_blocks": "num_gpu_blocks, the null block 0 included.",
    "max_num_seqs": "max_num_seqs: no more requests run in one step.",
    "max_num_batched_tokens": "max_num_batched_tokens: a longer prompt is spread over steps.",
    "max_model_len": "max_model_len: prompts and outputs are cut to fit it.",
    "shared": "One text in front of every prompt.",
    "seed": "Another seed is another draw of arrivals, lengths and priorities.",
}


def pressure_controls() -> Asked | None:
    """What the controls ask for; None while its file is missing.

    What is wrong is said beside the controls, and the last scenario that would do stays.
    """
    with st.sidebar:
        with in_link("pressure", "a scenario of the list"):
            title = st.selectbox(
                "Scenario",
                [*TITLES, TRACE, FILE],
                key="pressure",
                bind="query-params",
                on_change=_forget,
            )
        if title == FILE:
            return _kept("file", 0, lambda: uploaded_scenario("pressure.file"))
        if title == TRACE:
            return _kept("trace", 0, _traced)
        example = TITLES[title]
        st.caption(example.shows)
        return _kept(example.slug, example.step, lambda: _drawn(example))


def _forget() -> None:
    for name in PLACE:
        st.query_params.pop(name, None)


def _kept(slug: str, opening: int, make: Callable[[], Scenario | None]) -> Asked | None:
    """What the controls make, or what they made last when it will not do."""
    key = f"pressure.{slug}.good"
    try:
        scenario = make()
        if scenario is not None:
            check_limits(scenario)
        st.session_state[key] = scenario and Asked(slug, opening, scenario)
    except ScenarioError as error:
        complain(error)
    kept: Asked | None = st.session_state.get(key)
    return kept


def _drawn(example: PressureExample) -> Scenario:
    load = _load(example)
    engine = _engine(example.slug, {**DEFAULTS, **example.engine})
    return Scenario(
        name=example.title, requests=requests_of(load, engine["max_model_len"]), **engine
    )


def _traced() -> Scenario | None:
    draft = trace_draft()
    requests = trace_requests(draft)
    engine = _engine("trace", asdict(ENGINE))
    return Scenario(name=ENGINE.name, requests=requests, **engine) if requests else None


def _load(example: PressureExample) -> Load:
    rate = bound_slider(
        "Arrivals a step",
        *RATES,
        example.load.rate,
        step=0.1,
        key=f"{example.slug}.rate",
        help="Requests a step on average, at random times; 0: all at once.",
    )
    counts = {"prompt": _count(example, "prompt"), "output": _count(example, "output")}
    with st.expander("More of the load"):
        for name in ("num_requests", "shared", "seed"):
            counts[name] = _count(example, name)
        spread = bound_slider(
            "Spread of lengths",
            *SPREADS,
            example.load.spread,
            step=0.1,
            key=f"{example.slug}.spread",
            help="Sigma of the log-normal distribution; 0: all are as long as the median.",
        )
    return Load(rate=rate, spread=spread, **counts)


def _count(example: PressureExample, name: str) -> int:
    label, limits = COUNTS[name]
    default = getattr(example.load, name)
    return _number(example.slug, name, label, default, limits)


def _engine(slug: str, default: dict[str, Any]) -> dict[str, Any]:
    """The engine's settings, by the scenario's names for them."""
    settings: dict[str, Any] = {
        "num_gpu_blocks": _setting(slug, "num_gpu_blocks", default),
        "block_size": bound_slider(
            "Block size",
            *LIMITS["block_size"][:2],
            default["block_size"],
            key=f"{slug}.block_size",
            help="Tokens a KV block holds. vLLM’s default is 16.",
        ),
    }
    with in_link(f"{slug}.caching", "true or false"):
        settings["enable_prefix_caching"] = st.toggle(
            "Prefix caching",
            default["enable_prefix_caching"],
            key=f"{slug}.caching",
            bind="query-params",
        )
    with st.expander("Scheduler"):
        with in_link(f"{slug}.policy", ", ".join(POLICIES.values()), shown=POLICIES.__getitem__):
            settings["policy"] = st.selectbox(
                "Policy",
                list(POLICIES),
                list(POLICIES).index(default["policy"]),
                format_func=POLICIES.__getitem__,
                key=f"{slug}.policy",
                bind="query-params",
            )
        for name in ("max_num_seqs", "max_num_batched_tokens", "max_model_len"):
            settings[name] = _setting(slug, name, default)
    return settings


def _setting(slug: str, name: str, default: dict[str, Any]) -> int:
    return _number(slug, name, ENGINE_COUNTS[name], default[name], LIMITS[name])


def _number(slug: str, name: str, label: str, default: int, limits: Limits) -> int:
    return whole_number(
        label,
        default,
        limits,
        instead=default,
        key=f"{slug}.{name}",
        bind="query-params",
        help=HELP.get(name),
    )
