"""Memory layout in a browser: runs, sectors and addresses drawn are those of sim.layout."""

from playwright.sync_api import expect

from sim.layout import CacheShape, Layout, arithmetic, cost, element

READ = "window.__player.layout.read()"
SHAPE = CacheShape(16, 4, 128, 2)
BLOCK_BYTES = 16 * 4 * 128 * 2


def ready(page):
    expect(page.locator(".player[data-ready=true]")).to_be_visible()
    return page


def test_each_load_is_drawn_where_it_lies_and_played(visit):
    page = ready(visit("/memory_layout"))
    page.locator(".player").focus()
    for load in (4, 5):
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"{READ}.step === {load}")
        for side, layout in zip(
            page.evaluate(f"{READ}.sides"), (Layout.NHD, Layout.X_SPLIT), strict=True
        ):
            expected = cost(layout, "K", SHAPE, 3, 0, load)
            assert side["runs"] == (expected.runs - 3 * BLOCK_BYTES).ravel().tolist()
            assert side["sectors"] == expected.sectors
            assert side["address"] == {
                "words": arithmetic(layout, "K", SHAPE, 3, 5, 0, 27),
                "number": element(layout, "K", SHAPE, 3, 5, 0, 27),
            }
    page.get_by_role("button", name="Play").click()
    page.wait_for_function(f"{READ}.step >= 7")
    page.get_by_role("button", name="Pause").click()
    step = page.evaluate(f"{READ}.step")
    page.wait_for_url(f"**/memory_layout?step={step}")


def test_a_hovered_byte_says_which_element_it_is(visit):
    """On the left each token has 4 rows of 256 bytes, one a head; the memory begins at 62, 44."""
    page = ready(visit("/memory_layout"))
    high = page.evaluate(f"{READ}.rowHeight")
    tip = page.locator(".layout .tip")
    for row, words, byte in (
        (0, "token 0, head 0, d 0((3×16 + 0)×4 + 0)×128 + 0 = 24,576", "49,152"),
        (22, "token 5, head 2, d 0((3×16 + 5)×4 + 2)×128 + 0 = 27,392", "54,784"),
    ):
        page.locator(".layout canvas").hover(position={"x": 63, "y": 44 + (row + 0.5) * high})
        expect(tip).to_contain_text(f"NHD: {words}")
        expect(tip).to_contain_text(f"byte {byte}")


def test_values_at_the_ends_of_the_sliders_on_a_phone(visit):
    page = ready(
        visit(
            "/memory_layout?cache=V&left=packed+K%7CV&block_size=32&heads=8&head_size=256&dtype=float32",
            size=(390, 844),
            color_scheme="dark",
        )
    )
    big = CacheShape(32, 8, 256, 4)
    sides = page.evaluate(f"{READ}.sides")
    step = page.evaluate(f"{READ}.step")
    assert [side["sectors"] for side in sides] == [
        cost(layout, "V", big, 3, 0, step).sectors for layout in (Layout.PACKED, Layout.X_SPLIT)
    ]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
