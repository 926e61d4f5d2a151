"""The contrasts that design/visual.md promises, computed from the colours themselves."""

from itertools import pairwise

import pytest

from pages.figures.palette import DARK, LIGHT, Theme, mix

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)


def luminance(colour: str) -> float:
    def linear(channel: int) -> float:
        share = channel / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    red, green, blue = map(linear, bytes.fromhex(colour[1:]))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def surfaces(theme: Theme) -> tuple[str, str, str]:
    return (theme.bg, theme.surface, theme.sunken)


@THEMES
def test_words_are_readable_on_every_surface(theme):
    for surface in surfaces(theme):
        assert contrast(theme.ink, surface) >= 14
        assert contrast(theme.text, surface) >= 12
        assert contrast(theme.muted, surface) >= 5.4
        assert contrast(theme.rule, surface) >= 3


@THEMES
def test_every_edge_stands_on_every_surface(theme):
    least = {"light": 4.99, "dark": 7.3}[theme.name]
    for owner in (*theme.owners, theme.rest):
        assert min(contrast(owner.edge, surface) for surface in surfaces(theme)) >= least


@THEMES
def test_words_are_readable_on_fills_and_tints(theme):
    for owner in (*theme.owners, theme.rest):
        assert contrast(owner.on_fill, owner.fill) >= 4.5
        assert contrast(theme.ink, owner.tint) >= 11.8


@THEMES
def test_each_state_of_the_mosaic_differs_from_the_next(theme):
    order = [theme.mosaic.free, theme.mosaic.cached, theme.mosaic.used, theme.mosaic.shared]
    for one, other in pairwise(order):
        assert contrast(one, other) >= 2.2


def test_a_tint_is_the_share_of_the_colour_over_the_ground():
    assert mix("#FF0000", "#0000FF", 0.25) == "#4000BF"
    assert LIGHT.owners[0].tint == mix("#0072B2", "#FFFFFF", 0.16)
