"""The table a visitor edits: sizes in, requests out."""

import pandas as pd
import pytest

from pages.ui.examples import EXAMPLES
from pages.ui.request_table import from_table, row_of, sized_request, to_table
from sim.checked import ScenarioError
from sim.prompt import TokenPrompt
from sim.scenario import RequestSpec


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_a_table_gives_back_its_requests(example):
    requests = example.scenario.requests

    assert from_table(to_table(requests), known=()) == requests


def test_shared_tokens_are_the_same_and_the_rest_is_not():
    ann, ben = sized_request("Ann", 18, 12, 1, 0).prompt, sized_request("Ben", 21, 8, 1, 0).prompt

    assert ann.content(4, 8) == ben.content(4, 8)
    assert ann.content(8, 12) != ben.content(8, 12)
    assert ann.content(12, 16) != ben.content(12, 16)


def test_requests_without_shared_tokens_have_nothing_in_common():
    one, two = sized_request("a", 8, 0, 1, 0).prompt, sized_request("b", 8, 0, 1, 0).prompt

    assert one.content(0, 4) != two.content(0, 4)
    assert one.content(0, 4) != one.content(4, 8)


def test_an_unchanged_row_is_the_request_it_was():
    typed_elsewhere = RequestSpec("a", 0, TokenPrompt((7, 7, 7)), 2)
    table = to_table([typed_elsewhere, sized_request("b", 4, 0, 1, 0)])
    table.loc[1, "prompt"] = 5

    assert from_table(table, [typed_elsewhere]) == (
        typed_elsewhere,
        sized_request("b", 5, 0, 1, 0),
    )
    assert row_of(typed_elsewhere) == ("a", 3, 0, 2, 0)


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("id", None, "row 2 has an id of 0 characters; 1 to 24 would do."),
        ("id", "x" * 25, "row 2 has an id of 25 characters; 1 to 24 would do."),
        ("prompt", 0, "b: prompt is 0; 1 to 32,768 would do."),
        ("prompt", None, "b: prompt is empty; 1 to 32,768 would do."),
        ("prompt", 2.5, "b: prompt is 2.5; 1 to 32,768 would do."),
        ("prompt", float("inf"), "b: prompt is inf; 1 to 32,768 would do."),
        ("shared", 5, "b: shared is 5; 0 to 4 would do."),
        ("output", -1, "b: output is -1; 1 to 32,768 would do."),
        ("arrives", -3, "b: arrives is -3; 0 to 1,000,000 would do."),
    ],
)
def test_a_wrong_cell_is_named(column, value, sentence):
    table = to_table([sized_request("a", 4, 0, 1, 0), sized_request("b", 4, 0, 1, 0)])
    table[column] = table[column].astype(object)
    table.loc[1, column] = value

    with pytest.raises(ScenarioError) as caught:
        from_table(table, known=())

    assert str(caught.value) == sentence
    assert caught.value.field == "requests"


def test_an_empty_table_is_answered():
    with pytest.raises(ScenarioError, match="there are 0 requests; 1 to 200 rows would do"):
        from_table(pd.DataFrame(columns=["id", "prompt", "shared", "output", "arrives"]), ())
