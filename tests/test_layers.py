"""Imports run one way: app.py → pages → {sim, kernels}."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOMS = ("app", "pages", "sim", "kernels", "tests")

# What the files of a folder may import of ours, and what of others they may not.
LAYERS = [
    ("app.py", {"pages"}, {"torch", "triton", "plotly"}),
    ("pages", {"pages", "sim", "kernels"}, {"torch", "triton"}),
    ("pages/figures", {"pages.figures", "sim", "kernels"}, {"streamlit"}),
    ("sim", {"sim"}, {"streamlit", "torch", "triton", "plotly", "pandas"}),
    ("kernels", {"kernels"}, {"streamlit", "plotly", "pandas"}),
]


def files(path: Path) -> list[Path]:
    found = [path] if path.is_file() else sorted(path.rglob("*.py"))
    assert found, f"no Python file at {path}"
    return found


def imports(source: str) -> Iterator[str]:
    """Dotted names that a source imports, wherever the statement stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where a name comes from"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def breaches(source: str, ours: set[str], not_others: set[str]) -> list[str]:
    """The imports of a source that its layer does not allow."""
    return [
        name
        for name in imports(source)
        if (name.split(".")[0] in ROOMS and not any(is_within(name, room) for room in ours))
        or any(is_within(name, other) for other in not_others)
    ]


def is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


@pytest.mark.parametrize(("folder", "ours", "not_others"), LAYERS)
def test_imports_run_one_way(root, folder, ours, not_others):
    found = {
        str(path.relative_to(root)): wrong
        for path in files(root / folder)
        if (wrong := breaches(path.read_text(), ours, not_others))
    }
    assert found == {}


def test_no_one_imports_a_page_script(root):
    scripts = {f"pages.{path.stem}" for path in (root / "pages").glob("*.py")}
    assert scripts, "no page script"
    for room in ("app.py", "pages", "tests"):
        for path in files(root / room):
            assert not scripts & set(imports(path.read_text())), path


@pytest.mark.parametrize(
    "source",
    [
        "import pages",
        "from pages.ui import page",
        "import torch",
        "from torch.nn import functional",
        "def late():\n    import streamlit as st",
    ],
)
def test_a_breach_is_seen(source):
    assert breaches(source, {"sim"}, {"streamlit", "torch"}) != []


def test_an_empty_folder_is_no_layer(tmp_path):
    with pytest.raises(AssertionError, match="no Python file"):
        files(tmp_path)
