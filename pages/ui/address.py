"""The query string of a page with a Draft: what the page shows is written there and read there.

scenario        an example's name, or a whole scenario; with a trace, the engine's settings
file            what the file of a scenario is called that is too large for a link
trace           the file, its digest, how many requests, the length of a step
step            where the player stands
request, token  what is asked about below the player
block           the physical block whose life is told
"""

from dataclasses import asdict, replace
from typing import TypeVar

import streamlit as st

from pages.ui.draft import Draft
from pages.ui.examples import EXAMPLES
from pages.ui.link import ScenarioFile, decode, decode_scenario, encode, encode_scenario
from pages.ui.trace import TraceChoice
from sim.checked import ScenarioError

Number = TypeVar("Number", int, int | None)
SLUGS = {example.slug: example for example in EXAMPLES}


def follow_address(draft: Draft) -> None:
    """Put on screen what the address says, unless that is what was last read or written.

    Raises ScenarioError, in one sentence, when it cannot be followed; the rest stays as it was.
    """
    address = st.query_params.to_dict()
    if address == draft.address and address:
        return
    draft.address = address
    name = address.get("scenario", "")
    if "trace" in address:
        draft.open_trace(decode_scenario(name), TraceChoice.from_json(decode(address["trace"])))
    elif "file" in address:
        draft.ask_file(ScenarioFile.from_link(address["file"]))
    elif name in SLUGS:
        draft.open_example(SLUGS[name])
    elif name:
        draft.open_scenario(decode_scenario(name))
    else:
        draft.reopen()
    draft.step = _whole(address, "step", draft.step)
    draft.request = address.get("request", draft.request)
    draft.token = _whole(address, "token", draft.token)
    draft.block = _whole(address, "block", draft.block)


def write_address(draft: Draft) -> None:
    """Make the address a link to what is on screen."""
    draft.address = {**_scenario_of(draft), "step": str(draft.step)}
    if draft.request is not None:
        draft.address["request"] = draft.request
    for name, number in (("token", draft.token), ("block", draft.block)):
        if number is not None:
            draft.address[name] = str(number)
    if st.query_params.to_dict() != draft.address:
        st.query_params.from_dict(draft.address)


def _scenario_of(draft: Draft) -> dict[str, str]:
    if draft.shown:
        engine = replace(draft.good, requests=())
        return {"scenario": encode_scenario(engine), "trace": encode(asdict(draft.shown))}
    for slug, example in SLUGS.items():
        if example.scenario == draft.good:
            return {"scenario": slug}
    return draft.link


def _whole(address: dict[str, str], name: str, default: Number) -> int | Number:
    text = address.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ScenarioError(name, f"the {name} in this link is {text!r}; a whole number would do.")
    return int(text)
