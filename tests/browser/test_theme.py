"""What Streamlit paints on ink can be read, in both themes."""

import re

import pytest
from playwright.sync_api import expect

COLOURS = """node => {
    const style = getComputedStyle(node);
    return [style.color, style.backgroundColor];
}"""


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_on_a_primary_button_is_legible(visit, theme):
    button = visit("/run_kernel", color_scheme=theme).get_by_test_id("stBaseButton-primary").first
    expect(button).to_be_visible()

    assert contrast(*button.evaluate(COLOURS)) >= 7


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_knob_of_a_switch_that_is_on_is_seen(visit, theme):
    page = visit("/allocation", color_scheme=theme)
    track = page.locator(".stCheckbox label > div").first
    expect(track).to_be_visible()
    _, ground = track.evaluate(COLOURS)
    _, knob = track.locator("div").evaluate(COLOURS)

    assert contrast(ground, knob) >= 7
