"""Streamlit's theme and the figures' palette are one: same surfaces, same inks."""

import tomllib

import pytest

from pages.figures.palette import DARK, LIGHT


@pytest.fixture
def config(root):
    return tomllib.loads((root / ".streamlit" / "config.toml").read_text())


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_streamlit_wears_the_palette(config, theme):
    worn = config["theme"][theme.name]

    assert worn["backgroundColor"] == worn["sidebar"]["secondaryBackgroundColor"] == theme.bg
    assert worn["secondaryBackgroundColor"] == worn["sidebar"]["backgroundColor"] == theme.surface
    assert worn["primaryColor"] == worn["linkColor"] == worn["codeTextColor"] == theme.ink
    assert worn["grayBackgroundColor"] == worn["codeBackgroundColor"] == theme.sunken
    assert worn["grayColor"] == worn["grayTextColor"] == theme.muted
    assert worn["textColor"] == theme.text
    assert worn["borderColor"] == theme.line
