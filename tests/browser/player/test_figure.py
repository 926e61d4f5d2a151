"""What stands around the pool: history, lens, block cursor, lit words, the picture, the lanes."""

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.player.driver import expect_python, read, recorded, seek

KNOWN = "window.__player.p.read().history.used.every(n => n >= 0)"


def test_the_history_counts_every_step(open_player, root):
    page = open_player("log=fuzz_05")
    log = recorded(root, "fuzz_05")
    page.wait_for_function(KNOWN)
    history = read(page)["history"]

    for step in (0, 1, 63, 64, 106, 200, 300, 301):
        frame = log.frame(step)
        held, hashed = frame.ref_cnt[1:] > 0, frame.prefix_id[1:] >= 0
        assert history["used"][step] == held.sum()
        assert history["shared"][step] == (frame.ref_cnt[1:] > 1).sum()
        assert history["cached"][step] == (hashed & ~held).sum()

    box = page.locator(".history-field").bounding_box()
    middle = box["y"] + 40
    page.mouse.move(box["x"] + box["width"] / 4, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 1 + (box["width"] - 2) * 200 / 301, middle, steps=3)
    assert read(page)["step"] == pytest.approx(200, abs=1)
    page.mouse.up()
    expect_python(page, read(page)["step"])
    head = page.locator(".history-head").bounding_box()
    assert head["x"] + 1 == pytest.approx(box["x"] + box["width"] * 200 / 301, abs=3)


@pytest.mark.parametrize("scale", [1, 2])
def test_the_picture_is_what_is_on_the_card(open_player, tmp_path, scale):
    page = open_player("step=3&scenario=two-chats", device_scale_factor=scale)
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    assert download.value.suggested_filename == "two-chats, step 3.png"
    path = tmp_path / "picture.png"
    download.value.save_as(path)
    picture = np.asarray(Image.open(path).convert("RGB"))

    card, legend = (page.locator(name).bounding_box() for name in (".player", ".legend"))
    foot = legend["y"] + legend["height"] - card["y"]
    assert picture.shape[1] == pytest.approx(scale * (card["width"] + 32), abs=1)
    assert picture.shape[0] == pytest.approx(scale * (foot + 32 + 24), abs=2 * scale)
    figure = picture[: int(scale * (legend["y"] - card["y"] + 16))].reshape(-1, 3)
    for colour in ((0, 114, 178), (230, 159, 0)):
        blocks = (figure == colour).all(axis=1).sum()
        assert blocks > 2 * scale**2 * 2_000, "two blocks at least are in the hue of each"
    words = picture[int(scale * (foot + 16)) :, : 400 * scale]
    assert (words < 150).any(), "the scenario and the step stand below"


def test_the_pool_by_keyboard(open_player):
    page = open_player("step=1")
    page.locator(".pool-box").focus()
    for key in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator(".tip")).to_contain_text("Block 2")
    page.keyboard.press("ArrowDown")
    assert (read(page)["cursor"], read(page)["step"]) == (2, 1), "there is no row below"
    page.keyboard.press("Enter")
    expect_python(page, 1, "A", 2)

    page.keyboard.press("Shift+ArrowRight")
    assert (read(page)["step"], read(page)["cursor"]) == (11, 2)
    expect(page.locator(".tip")).to_contain_text("free queue5 of 5 from the head")
    page.locator(".player").focus()
    expect(page.locator(".tip")).to_be_hidden()
    page.keyboard.press("ArrowLeft")
    assert (read(page)["step"], read(page)["cursor"]) == (10, None)


def test_leaders_join_the_lens_and_its_frame(open_player):
    page = open_player("log=busy_1100_120&step=100")
    page.locator(".pool-box").focus()
    page.keyboard.press("ArrowRight")
    assert read(page)["cursor"] == 1
    for key in ["ArrowDown"] * 3 + ["ArrowRight"] * 30:
        page.keyboard.press(key)
    block = read(page)["cursor"]
    expect(page.locator(".lens-words")).to_contain_text(f"Block {block}")

    path = page.locator(".leaders .ink").get_attribute("d")
    ends = [tuple(map(float, point.split())) for point in path.replace("L", "M").split("M")[1:]]
    pool, glass = (page.locator(name).bounding_box() for name in (".figure > .pool", ".glass"))
    cursor = page.locator(".block-cursor").bounding_box()
    assert ends[1] == pytest.approx((glass["x"] - pool["x"] + 6, glass["y"] - pool["y"]))
    assert ends[3][0] == pytest.approx(glass["x"] + glass["width"] - pool["x"] - 6)
    assert ends[0][0] < cursor["x"] + cursor["width"] - pool["x"] < ends[2][0] + 12
    assert 0 < ends[0][1] - (cursor["y"] - pool["y"]) < 60


def test_words_light_marks_and_marks_light_words(open_player):
    page = open_player("step=1")
    lit = "window.__player.p.read().lit"
    page.locator(".sentence .chip", has_text="A").hover()
    assert page.evaluate(lit) == 2, "A holds blocks 1 and 2"
    page.locator(".sentence b", has_text="3").hover()
    assert page.evaluate(lit) == 1
    page.locator(".legend li", has_text="shared").hover()
    assert page.evaluate(lit) == 1
    page.locator(".legend li", has_text="free, no hash").hover()
    assert page.evaluate(lit) == 2
    page.locator(".place").hover()
    assert page.evaluate(lit) == 0

    box = page.locator(".pool-box canvas").bounding_box()
    page.mouse.move(box["x"] + 5 + 3 * 97 + 40, box["y"] + 186)
    expect(page.locator(".sentence .lit")).to_have_text(["B", "3"])
    expect(page.locator(".legend .lit")).to_have_text("B 2")
    page.mouse.move(box["x"] + 5 + 97 + 40, box["y"] + 186)
    expect(page.locator(".legend .lit")).to_have_text(["A 2", "B 2"])

    page.locator(".sentence .chip", has_text="A").click()
    expect_python(page, 1, "A")
    page.locator(".sentence b", has_text="3").click()
    expect_python(page, 1, "B", 3)


def test_a_tap_tells_a_block(open_player):
    page = open_player("step=1", size=(390, 844), has_touch=True, device_scale_factor=2)
    canvas = page.locator(".pool-box canvas")
    canvas.tap(position={"x": 5 + 2 * 43 + 20, "y": 190})
    expect(page.locator(".tip")).to_contain_text("Block 2")
    expect_python(page, 1, "A", 2)


def test_hazards_have_a_lane_where_there_are_any(open_player):
    names = ["allocate", "hit", "evict", "preempt", "finish"]
    page = open_player("log=hazards&step=0")
    expect(page.locator(".lane-names span")).to_have_text([*names, "hazard"])
    page.get_by_label("Stop at").select_option(label="Stop: hazard")
    page.get_by_label("Play (Space)").click()
    expect_python(page, 1)

    page = open_player()
    expect(page.locator(".lane-names span")).to_have_text(names)


def test_blocks_of_the_others_are_counted_once(open_player):
    """All that is held is with somebody in focus or with the others, however many share it."""
    page = open_player("log=busy_1100_120")
    for step in (40, 100):
        shown = seek(page, step)
        focus = [name for name, hue in shown["hues"].items() if hue >= 0]
        held = {block for name in focus for block in shown["tables"][name]}
        others = next(n for label, n in shown["legend"] if label.endswith(("other", "others")))
        assert len(held) + others == shown["counts"]["used"]
