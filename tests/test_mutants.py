"""The mutants of tests/mutants.py still fit the code; running them all takes half an hour."""

import pytest

from tests.mutants import MUTANTS, ROOT


@pytest.mark.parametrize(("rule", "file", "old", "new"), MUTANTS)
def test_a_mutant_changes_one_place(rule, file, old, new):
    assert (ROOT / "sim" / f"{file}.py").read_text().count(old) == 1
    assert new != old
