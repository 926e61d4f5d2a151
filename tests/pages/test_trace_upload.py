"""Traces on the Allocation page: good ones play, bad ones are answered, links ask for the file."""

import gzip
import json

import pytest

from pages.ui.link import decode
from tests.pages.allocation_app import address, checked, complaints, control, opened, shown, text


def trace(*rows, **changes):
    lines = [
        json.dumps(
            {
                "timestamp": 40 * number,
                "input_length": length,
                "output_length": 3,
                "hash_ids": list(range(100 * number, 100 * number - (-length // 16))),
                **changes,
            }
        )
        for number, length in enumerate(rows)
    ]
    return "\n".join(lines).encode()


def with_trace(name, data, app=None):
    app = app or opened()
    control(app.selectbox, "Scenario").select("A trace of yours")
    checked(app.run())
    app.file_uploader[0].set_value((name, data, "application/octet-stream"))
    return checked(app.run())


def test_a_trace_is_simulated_to_the_end():
    app = with_trace("mine.jsonl", trace(40, 33, 70))

    header, _ = shown(app)
    assert [request["prompt"] for request in header["requests"]] == [40, 33, 70]
    assert [request["arrival_step"] for request in header["requests"]] == [0, 0, 1]
    assert "mine.jsonl: 3 requests, 143 prompt and 9 output tokens" in text(app)
    assert not header["stalled"]


def test_a_zipped_trace_is_the_same():
    app = with_trace("mine.jsonl.gz", gzip.compress(trace(40, 33, 70)))

    assert len(shown(app)[0]["requests"]) == 3


def test_the_first_requests_only():
    app = with_trace("mine.jsonl", trace(40, 33, 70))
    control(app.number_input, "First requests").set_value(2)
    checked(app.run())

    assert len(shown(app)[0]["requests"]) == 2


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the file has no request"),
        (trace(40) + b"\n{oops", "line 2\\: not JSON"),
        (trace(40) + b'\n{"timestamp": 1}', "line 2\\: input\\_length is missing"),
        (trace(40, output_length=-5), "line 1\\: output\\_length is -5"),
        (trace(40, hash_ids=[]), "line 1\\: 0 hash\\_ids for 40 tokens"),
        (gzip.compress(trace(40))[:-9], "gzip data is damaged"),
        (trace(40_000), "r0 has 40000 prompt tokens"),
    ],
    ids=["empty", "not JSON", "missing", "negative", "ids", "cut gzip", "too long"],
)
def test_a_bad_trace_is_answered_and_nothing_is_lost(data, sentence):
    app = with_trace("bad.jsonl", data, opened(scenario="two-chats", step="4"))

    assert len(complaints(app)) == 1
    assert sentence in complaints(app)[0]
    assert address(app) == {"scenario": "two-chats", "step": "4"}
    assert "Ann" in app.dataframe[0].value["request"].tolist()


def test_a_bad_trace_after_a_good_one_leaves_the_good_one():
    app = with_trace("good.jsonl", trace(40, 33, 70))
    app.file_uploader[0].set_value(("bad.jsonl", b"{", "application/octet-stream"))
    checked(app.run())

    assert "bad.jsonl, line 1\\: not JSON" in complaints(app)[0]
    assert len(shown(app)[0]["requests"]) == 3


def test_the_link_of_a_trace_asks_for_its_file_and_then_shows_it():
    first = with_trace("mine.jsonl", trace(40, 33, 70))
    control(first.slider, "Block size").set_value(8)
    link = address(checked(first.run()))
    assert decode(link["trace"])["file"] == "mine.jsonl"

    app = opened(**link)
    assert "first 300 requests of **mine.jsonl**" in text(app)
    assert not app.get("bidi_component")
    assert address(app) == link

    app.file_uploader[0].set_value(("mine.jsonl", trace(40, 33, 70), "application/json"))
    checked(app.run())
    assert shown(app)[0]["scenario"]["block_size"] == 8
    assert address(app) == link


def test_another_file_than_the_links_is_noticed():
    link = address(with_trace("mine.jsonl", trace(40, 33, 70)))
    app = opened(**link)
    app.file_uploader[0].set_value(("mine.jsonl", trace(40, 33), "application/json"))
    checked(app.run())

    assert "This is not the file of the link" in complaints(app)[0]
