"""Overview: the lesson's example as it was recorded, opened at its end, and links that lead on."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.figures.overview import overview_blob, overview_steps
from sim.attention import attend, written_pool
from sim.attention_input import LESSON
from sim.columns import unpack

LAST = 15


@pytest.fixture
def open_page(root):
    def run(**query):
        app = AppTest.from_file(root / "pages" / "overview.py", default_timeout=30)
        app.query_params.update(query)
        return app.run()

    return run


def recorded():
    _, written = written_pool(LESSON, LESSON.keys[0])
    return written, attend(LESSON)[0]


def test_six_writes_two_lookups_six_reads_one_comparison():
    steps = overview_steps(*recorded())

    assert steps[0] == ("empty", -1, -1)
    assert [kind for kind, *_ in steps[1:7]] == ["write"] * 6
    assert [block for *_, block in steps[1:7]] == [0, 0, 0, 0, 1, 1]
    assert steps[7:9] == [("block", -1, 0), ("fold", 0, 0)]
    assert steps[12:14] == [("block", 3, 1), ("fold", 4, 1)]
    assert steps[LAST:] == [("compare", 5, -1)]


def test_slots_and_outputs_are_the_recorded_ones():
    written, walk = recorded()
    header, columns = unpack(overview_blob(LESSON, written, walk))

    assert header["holders"] == ["B", "A", "C", "A", "free"]
    assert columns["slot"].tolist() == [12, 13, 14, 15, 4, 5]
    assert columns["partial"].tolist() == [a for fold in walk.folds for a in fold.output]
    assert columns["error"][-1] == walk.error(walk.output) <= 2.3e-16


def test_page_opens_at_the_end(open_page):
    app = open_page()

    assert not app.exception
    assert app.query_params["step"] == str(LAST)


@pytest.mark.parametrize("step", ["16", "-1", "x", ""])
def test_nonsense_in_a_link_opens_the_end(open_page, step):
    assert open_page(step=step).query_params["step"] == str(LAST)


def test_a_link_opens_its_step(open_page):
    assert open_page(step="4").query_params["step"] == "4"


def test_every_page_it_links_to_opens(open_page, root):
    links = [(link.proto.page, link.proto.query_string) for link in open_page().get("page_link")]

    assert [page for page, _ in links] == [
        "allocation",
        "prefix_sharing",
        "pressure",
        "gather_loop",
        "memory_layout",
        "run_kernel",
    ]
    for page, query in links:
        app = AppTest.from_file(root / "pages" / f"{page}.py", default_timeout=30)
        app.query_params.update(dict(pair.split("=") for pair in query.split("&") if pair))
        assert not app.run().exception
