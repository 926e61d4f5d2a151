"""Memory layout: what the page sends to its player is what sim.layout says."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.figures.layout import Place, axes_words, layout_blob
from sim.columns import unpack
from sim.layout import CacheShape, Layout, cost, element, loads

PAGE = Path(__file__).parents[2] / "pages" / "memory_layout.py"
SHAPE = CacheShape(16, 4, 128, 2)


def opened(**address):
    app = AppTest.from_file(PAGE, default_timeout=60)
    for name, value in address.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def sent(app):
    return unpack(app.get("bidi_component")[0].proto.bytes)


def test_it_opens_with_keys_of_16_bits_in_nhd_and_the_x_split():
    app = opened()
    header, columns = sent(app)
    assert [side["words"] for side in header["sides"]] == [
        "[blocks, 16 slots, 4 heads, 128]",
        "[blocks, 4 heads, 16, 16 slots, x = 8]",
    ]
    assert columns["sectors0"].tolist() == [16] * 16
    assert columns["sectors1"].tolist() == [8] * 16
    assert "3 × 16 + 5 = slot 53" in app.code[0].value


@pytest.mark.parametrize("cache", ["K", "V"])
@pytest.mark.parametrize("layout", Layout, ids=lambda layout: layout.value)
def test_places_and_runs_are_those_of_the_block(layout, cache):
    at = Place(block=2, slot=5, head=1, d=27)
    header, columns = unpack(layout_blob((Layout.NHD, layout), cache, SHAPE, at))
    index, start = columns["index1"], 2 * len(columns["index1"])
    for slot, head, d in ((0, 0, 0), (5, 1, 27), (15, 3, 127)):
        number = element(layout, cache, SHAPE, 2, slot, head, d)
        assert index[number - start] == (slot * 4 + head) * 128 + d
    end = columns["run_end1"]
    for load in (0, header["num_steps"] - 1):
        mine = columns["run1"].reshape(-1, 2)[end[load - 1] if load else 0 : end[load]]
        expected = cost(layout, cache, SHAPE, 2, 1, load)
        assert (mine + 2 * start).tolist() == expected.runs.tolist()
        assert columns["sectors1"][load] == expected.sectors
    assert columns["load_d"].tolist() == loads(cache, SHAPE).d.ravel().tolist()


def test_packed_keys_leave_every_other_place_to_the_values():
    _, columns = unpack(layout_blob((Layout.PACKED, Layout.HND), "K", SHAPE, Place(0, 0, 0, 0)))
    others = (columns["index0"] == -1).reshape(-1, 2, 128)
    assert not others[:, 0].any()
    assert others[:, 1].all()
    assert (np.sort(columns["index1"]) == np.arange(16 * 4 * 128)).all()


def test_the_table_has_every_layout_of_both_caches():
    table = opened().dataframe[0].value
    assert table["layout"].tolist() == [layout.value for layout in Layout] * 2
    assert table["sectors"].tolist() == [16, 16, 16, 8, 16, 16, 16, 16]
    assert table["reads a thread"].tolist() == [1, 1, 1, 1, 8, 8, 8, 1]
    assert axes_words(Layout.X_SPLIT, "V", SHAPE) in table["axes"].tolist()


@pytest.mark.parametrize(
    ("address", "axes"),
    [
        (
            {"heads": "1", "block_size": "8", "head_size": "32", "dtype": "float8", "left": "HND"},
            "[blocks, 1 heads, 8 slots, 32]",
        ),
        (
            {"heads": "8", "block_size": "32", "head_size": "256", "dtype": "float32"},
            "[blocks, 32 slots, 8 heads, 256]",
        ),
        (
            {"heads": "99", "block_size": "7", "left": "nonsense"},
            "[blocks, 16 slots, 4 heads, 128]",
        ),
    ],
)
def test_links_at_both_ends_and_past_them(address, axes):
    assert sent(opened(**address))[0]["sides"][0]["words"] == axes


def test_a_value_that_no_control_can_have_is_answered():
    app = opened(heads="99", dtype="int3")
    told = [m.value for m in app.markdown if "The link says" in m.value]
    assert len(told) == 2
    assert "heads=99; 1 to 8 would do\\: shown with 4" in told[1]


def test_a_shorter_axis_keeps_the_place_within_it():
    app = opened(block_size="32", slot_of_32="31")
    assert sent(app)[0]["at"]["slot"] == 31
    app.select_slider[0].set_value(8).run()
    assert not app.exception
    assert sent(app)[0]["at"]["slot"] == 5
