"""Gather loop: the player gets exactly what was recorded, and a link is a state."""

import inspect
import math
import subprocess
import sys
from dataclasses import fields

import pytest
from streamlit.testing.v1 import AppTest

import sim.attention
from pages.figures.fold import arithmetic, number, place, rows
from pages.figures.gather import gather_blob, holders, micro_steps, opening_step, source
from sim.attention import TokenFolded, attend
from sim.attention_input import LESSON, random_input
from sim.columns import unpack

LESSON_OPENS = 37  # token 4, the first of the second block, is folded


@pytest.fixture
def open_page(root):
    def run(**query):
        app = AppTest.from_file(root / "pages" / "gather_loop.py", default_timeout=30)
        app.query_params.update(query)
        return app.run()

    return run


def blob_of(app):
    assert not app.exception
    return app.get("bidi_component")[0].proto.bytes


def shown(app):
    return unpack(blob_of(app).rpartition(b"{")[0])


def test_columns_hold_every_recorded_number_bit_for_bit():
    inputs = random_input(5, 11, 3, 4, 2).placed(4, "scattered", 5)
    for head, walk in enumerate(attend(inputs)):
        header, columns = unpack(gather_blob(inputs, walk, head, holders(inputs, True)))
        for field in fields(TokenFolded):
            if field.name not in ("position", "acc"):
                recorded = [getattr(fold, field.name) for fold in walk.folds]
                assert columns[field.name].tolist() == recorded
        assert columns["acc"].tolist() == [a for fold in walk.folds for a in fold.acc]
        assert columns["partial"].tolist() == [a for fold in walk.folds for a in fold.output]
        assert columns["dense"].tolist() == walk.dense
        assert columns["output"].tolist() == walk.output
        assert columns["error"][-1] == walk.error(walk.output)
        assert columns["k"].tolist() == [x for k in inputs.keys[head // 2] for x in k]
        assert header["kv_head"] == head // 2


def test_lesson_has_a_position_for_each_line_that_computes():
    (walk,) = attend(LESSON)
    kinds, tokens, blocks = micro_steps(walk)

    fold = ["load", "score", "max", "corr", "p", "l", "acc"]
    assert kinds == ["start", "block", *fold * 4, "block", *fold * 2, "divide"]
    assert tokens[:4] == [-1, -1, 0, 0]
    assert (kinds[30], tokens[30], blocks[30]) == ("block", 3, 1)
    assert tokens[-1] == 5


def test_page_opens_where_the_second_block_has_just_begun():
    (walk,) = attend(LESSON)
    (short,) = attend(LESSON.first(1))

    assert opening_step(walk, 4) == LESSON_OPENS
    assert opening_step(short, 4) == 8


def test_source_is_the_functions_own_text_and_numbers():
    lines = inspect.getsource(sim.attention).splitlines()
    shown_lines = source()["lines"]

    assert all(lines[n - 1] == text for n, text in shown_lines)
    assert shown_lines[0][1].startswith("def paged_attention(")
    assert shown_lines[-1][1] == "    return [a / l for a in acc]"
    assert not any('"""' in text for _, text in shown_lines)


@pytest.mark.parametrize(
    ("step", "begins"),
    [
        ("start", "m, l, acc = -math.inf"),
        ("block", "for logical_block, block_id in"),
        ("load", "k, v ="),
        ("score", "s ="),
        ("max", "m_old, m = m, max(m, s)"),
        ("corr", "corr ="),
        ("p", "p ="),
        ("l", "l = l * corr + p"),
        ("acc", "acc = ["),
        ("divide", "return"),
    ],
)
def test_lit_line_is_the_one_that_computes_the_step(step, begins):
    found = source()
    assert dict(found["lines"])[found["lit"][step]].strip().startswith(begins)


def test_neighbours_of_the_lesson_and_the_null_block():
    assert holders(LESSON, null_block=False) == ["B", "A", "C", "A", "free"]
    assert holders(LESSON.placed(3, "in order", 0), null_block=True)[0] == "null"


def test_arithmetic_of_the_token_that_moves_the_max():
    (walk,) = attend(LESSON)

    assert arithmetic(LESSON, walk, 0, 1) == [
        "s      = q·k / √4 = 0.375",
        "m      = max(−0.095, 0.375) = 0.375",
        "corr   = exp(−0.095 − 0.375) = 0.625",
        "p      = exp(0.375 − 0.375) = 1.000",
        "l      = 1.000 × 0.625 + 1.000 = 1.625",
        "acc[0] = 1.000 × 0.625 + 1.000 × 0.000 = 0.625",
    ]
    assert arithmetic(LESSON, walk, 0, 0)[1:3] == [
        "m      = max(−∞, −0.095) = −0.095",
        "corr   = exp(−∞ − (−0.095)) = 0.000",
    ]


def test_place_of_token_five():
    (walk,) = attend(LESSON)
    assert place(LESSON, walk, 5) == [
        "5 // 4 = 1   table[1] = 1",
        "5 % 4 = 1",
        "slot = 1 × 4 + 1 = 5",
    ]


def test_rows_are_the_folds():
    (walk,) = attend(LESSON)
    table = rows(walk)

    assert [row["block"] for row in table] == [3, 3, 3, 3, 1, 1]
    assert table[4]["acc[2]"] == walk.folds[4].acc[2]
    assert table[5]["error"] == walk.error(walk.output)


def test_numbers_are_written_with_a_minus_sign():
    assert [number(x) for x in (-0.23, 2.0, -math.inf)] == ["−0.230", "2.000", "−∞"]


def test_page_opens_on_the_lesson(open_page):
    app = open_page()
    header, columns = shown(app)

    assert header["block_table"] == [3, 1]
    assert columns["kind"].size == 46
    assert app.query_params["step"] == str(LESSON_OPENS)
    assert "slot = 1 × 4 + 0 = 4" in app.code[0].value


def test_a_link_is_a_state(open_page):
    app = open_page(
        seed="7", seq_len="20", head_size="8", group="2", block_size="3", order="reversed",
        query_head="1", step="60",
    )  # fmt: skip
    header, columns = shown(app)
    inputs = random_input(7, 20, 8, 2, 1).placed(3, "reversed", 7)
    walk = attend(inputs)[1]

    assert header["block_table"] == list(inputs.block_table) == [10, 8, 7, 6, 5, 3, 1]
    assert header["head"] == 1
    assert columns["acc"].tolist() == [a for fold in walk.folds for a in fold.acc]
    assert app.query_params["step"] == "60"


@pytest.mark.parametrize(
    "query",
    [
        {"step": "46"},
        {"step": "-1"},
        {"step": "1e1"},
        {"step": "²"},
        {"step": "9" * 5000},
        {"seed": "lesson"},
        {"seed": "-3"},
        {"block_size": "0"},
        {"block_size": "33"},
        {"seq_len": "7"},
        {"seq_len": "x"},
        {"order": "sideways"},
        {"query_head": "3"},
    ],
)
def test_nonsense_in_a_link_opens_the_lesson(open_page, query):
    app = open_page(**query)
    header, _ = shown(app)

    assert header["block_table"] == [3, 1]
    assert app.query_params["step"] == str(LESSON_OPENS)


@pytest.mark.parametrize("block_size", [1, 2, 32])
def test_the_lesson_fits_any_block_size_off_the_null_block(open_page, block_size):
    header, columns = shown(open_page(block_size=str(block_size)))

    assert len(header["block_table"]) == math.ceil(6 / block_size)
    assert 0 not in header["block_table"]
    assert header["holders"][0] == "null"
    assert columns["output"].tolist() == attend(LESSON)[0].output


def test_a_seed_scatters_over_a_pool_with_a_null_block(open_page):
    header, _ = shown(open_page(seed="7", seq_len="20"))
    placed = random_input(7, 20, 4, 1, 1).placed(4, "scattered", 7)

    assert header["block_table"] == list(placed.block_table)
    assert header["holders"][0] == "null"


def test_both_ends_of_every_slider(open_page):
    open_page(seed="0", seq_len="64", head_size="64", group="8", block_size="1", query_head="7")
    app = open_page(seed="0", seq_len="1", head_size="1", group="1", block_size="32")

    header, _ = shown(app)
    assert len(header["block_table"]) == 1


def test_where_the_player_stops_is_worked_out_and_linked(open_page):
    app = open_page()
    app.session_state["gather"] = {"step": 13, "request": None, "block": None}
    app.run()

    assert app.query_params["step"] == "13"
    assert "slot = 3 × 4 + 1 = 13" in app.code[0].value
    assert "exp(−0.095 − 0.375) = 0.625" in app.code[1].value


@pytest.mark.parametrize("page", ["gather_loop", "overview"])
def test_page_loads_neither_torch_nor_triton(root, page):
    script = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        f"app = AppTest.from_file('{root}/pages/{page}.py', default_timeout=30).run()\n"
        "assert not app.exception\n"
        "assert not {'torch', 'triton'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=root, check=True, capture_output=True)
