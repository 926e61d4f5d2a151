"""What a page gave away opens again on Allocation; what is something else is answered there."""

import json
from dataclasses import replace

import pytest

from pages.ui.examples import EXAMPLES
from pages.ui.link import MAX_CHARS, ScenarioFile, decode_scenario, encode_scenario, link_of
from pages.ui.pressure_examples import PRESSURE_EXAMPLES
from pages.ui.prompt_examples import PROMPT_EXAMPLES
from pages.ui.request_table import can_be_typed, sized_request
from pages.ui.uploaded import scenario_of
from sim.checked import ScenarioError
from sim.load import requests_of
from sim.log_file import to_parquet
from sim.prompt import HashedPrompt
from sim.scenario import RequestSpec, Scenario
from sim.simulate import simulate
from tests.pages.allocation_app import address, checked, complaints, control, opened, shown, text

CHATS = replace(EXAMPLES[1].scenario, block_size=7, name="Two chats in sevens")
DRAWN = PRESSURE_EXAMPLES[3]


def large():
    """300 requests of hash ids that no packing makes small: too many for a link."""
    return Scenario(
        400,
        16,
        tuple(
            RequestSpec(
                f"r{i}",
                0,
                HashedPrompt(tuple((i + 7) ** k % 999_983 for k in range(20, 50)), 1, 30),
                2,
            )
            for i in range(300)
        ),
        name="Three hundred",
    )


def json_of(scenario):
    return json.dumps(scenario.to_json()).encode()


def with_file(name, data, app=None):
    app = app or opened()
    control(app.selectbox, "Scenario").select("A file of yours")
    checked(app.run())
    return put(app, name, data)


def put(app, name, data):
    app.file_uploader[0].set_value((name, data, "application/octet-stream"))
    return checked(app.run())


# --- what opens -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file", [("a.json", json_of), ("a.parquet", lambda s: to_parquet(simulate(s)))]
)
def test_a_scenario_and_a_log_open_what_they_hold(file):
    name, written = file
    app = with_file(name, written(CHATS))

    assert complaints(app) == []
    assert decode_scenario(address(app)["scenario"]) == CHATS
    assert control(app.slider, "Block size").value == 7
    assert [request["id"] for request in shown(app)[0]["requests"]] == ["Ann", "Ben"]


def test_what_the_page_gives_away_is_what_it_takes():
    """The controls can change what came from a file, and it stays chosen."""
    app = with_file("a.json", json_of(CHATS))
    control(app.slider, "Block size").set_value(5)
    checked(app.run())

    assert control(app.selectbox, "Scenario").value == "A file of yours"
    assert decode_scenario(address(app)["scenario"]) == replace(CHATS, block_size=5)


@pytest.mark.parametrize("example", PROMPT_EXAMPLES, ids=lambda example: example.slug)
def test_the_scenarios_of_prefix_sharing_open(example):
    assert scenario_of("a.json", json_of(example.scenario)) == example.scenario
    assert scenario_of("a.parquet", to_parquet(simulate(example.scenario))) == example.scenario


def test_a_load_of_pressure_opens_though_nobody_could_type_it():
    scenario = Scenario(name=DRAWN.title, requests=requests_of(DRAWN.load, 4_096), **DRAWN.engine)
    app = with_file("a.json", json_of(scenario))

    assert complaints(app) == []
    assert len(shown(app)[0]["requests"]) == 300
    assert not can_be_typed(scenario.requests)
    assert "and 292 more" in text(app)


# --- what does not --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.json", b"", "this is not JSON, from line 1, character 1 on"),
        ("a.json", b'{"name":\n "x"', "this is not JSON, from line 2, character 5 on"),
        ("a.json", b"\xff\xfe\x00", "this is not JSON"),
        ("a.json", b"[" * 100_000, "this is not JSON"),
        ("a.json", b"[]", "a scenario is a JSON object"),
        ("a.json", b"{}", "num_gpu_blocks is missing"),
        ("a.json", json_of(replace(CHATS, requests=())), "0 requests"),
        ("a.json", json_of(replace(CHATS, block_size=257)), "block_size is 257; 1 to 256"),
        ("a.parquet", b"PAR1", "this Parquet file is damaged"),
        ("a.parquet", json_of(CHATS), "this is not a Parquet file"),
        (
            "a.parquet",
            to_parquet(simulate(replace(CHATS, block_size=300))),
            "block_size is 300; 1 to 256",
        ),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(name, data, sentence):
    with pytest.raises(ScenarioError, match=sentence) as error:
        scenario_of(name, data)
    assert str(error.value).endswith(".")


def test_a_refused_file_takes_nothing_off_the_screen():
    app = with_file("bad.json", b"{", opened(scenario="too-small", step="7"))

    assert len(complaints(app)) == 1
    assert "bad.json\\: this is not JSON, from line 1, character 2 on" in complaints(app)[0]
    assert address(app) == {"scenario": "too-small", "step": "7"}
    assert [request["id"] for request in shown(app)[0]["requests"]] == ["r0", "r1", "r2", "r3"]

    put(app, "good.json", json_of(CHATS))
    assert complaints(app) == []
    put(app, "bad.parquet", b"PAR1")
    assert "bad.parquet\\: this Parquet file is damaged" in complaints(app)[0]
    assert decode_scenario(address(app)["scenario"]) == CHATS


def test_the_last_good_file_is_found_again_after_an_example():
    app = put(with_file("a.json", json_of(CHATS)), "bad.json", b"{")
    control(app.selectbox, "Scenario").select("Two chats")
    checked(app.run())
    assert address(app)["scenario"] == "two-chats"

    control(app.selectbox, "Scenario").select("A file of yours")
    checked(app.run())
    assert decode_scenario(address(app)["scenario"]) == CHATS


# --- links ----------------------------------------------------------------------------------------


def test_a_link_holds_a_scenario_as_long_as_it_fits():
    fits, too_large = link_of(CHATS), link_of(large())

    assert fits == {"scenario": encode_scenario(CHATS)}
    assert len(encode_scenario(large())) > MAX_CHARS
    assert ScenarioFile.from_link(too_large["file"]) == ScenarioFile.of(large())


def test_a_scenario_too_large_for_a_link_is_offered_as_a_file():
    app = with_file("a.json", json_of(large()))
    link = address(app)
    assert set(link) == {"file", "step"}
    assert "Too large for a link" in text(app)

    other = opened(**{**link, "step": "3"})
    assert "This link shows “Three hundred”, a scenario too large for a link" in text(other)
    assert not other.get("bidi_component")
    assert address(other) == {**link, "step": "3"}

    put(other, "a.json", json_of(large()))
    assert complaints(other) == []
    assert address(other) == {**link, "step": "3"}


def test_another_file_than_the_links_is_noticed():
    app = opened(**link_of(large()), step="3")
    put(app, "a.json", json_of(CHATS))

    assert "This is not the file of the link" in complaints(app)[0]
    assert decode_scenario(address(app)["scenario"]) == CHATS


@pytest.mark.parametrize("text", ["nonsense", encode_scenario(CHATS)])
def test_a_link_to_a_file_that_is_none_is_answered(text):
    app = opened(file=text)

    assert "cannot be read" in complaints(app)[0]
    assert address(app) == {"scenario": "lesson", "step": "3"}


def test_a_link_with_no_request_is_answered():
    app = opened(scenario=encode_scenario(replace(CHATS, requests=())))

    assert "this scenario has 0 requests; 1 would do" in complaints(app)[0]


def test_what_can_be_typed_is_what_the_table_would_take():
    assert can_be_typed((sized_request("a", 4, 0, 1, 0),))
    assert not can_be_typed((sized_request("a" * 25, 4, 0, 1, 0),))
    assert not can_be_typed(())
