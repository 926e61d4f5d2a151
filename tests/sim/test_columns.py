"""The container: what is packed comes back, number for number, whatever form it was stored in."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.columns import pack, unpack, unpack_header

INT32 = st.integers(-(2**31), 2**31 - 1)
RUN = st.builds(
    lambda first, step, length: [(first + i * step + 2**31) % 2**32 - 2**31 for i in range(length)],
    INT32,
    st.sampled_from([0, 1, -1, 512, 2**31 - 1]),
    st.integers(0, 200),
)
NUMBERS = st.lists(st.one_of(RUN, st.lists(INT32, max_size=9))).map(
    lambda parts: list(chain.from_iterable(parts))
)


@given(NUMBERS)
def test_any_int32_comes_back(numbers):
    column = np.array(numbers, np.int32)
    header, columns = unpack(pack({"a": 1}, {"x": column, "y": column[::-1]}))

    assert header["a"] == 1
    for name, expected in (("x", column), ("y", column[::-1])):
        assert columns[name].tolist() == expected.tolist()
        assert columns[name].dtype == np.int32


def test_other_types_stand_beside_runs():
    columns = {
        "kind": np.arange(3, dtype=np.uint8),
        "up": np.arange(100, dtype=np.int32),
        "wide": np.array([2**40, -1], np.int64),
        "share": np.array([0.5], np.float32),
    }
    found = unpack(pack({}, columns))[1]

    assert {name: column.tolist() for name, column in found.items()} == {
        name: column.tolist() for name, column in columns.items()
    }
    assert {column.flags.writeable for column in found.values()} == {False}


def test_runs_are_small_and_scatter_is_never_larger():
    """A run up costs a head and a length: 2 bytes each here; random numbers stay as they are."""
    up = np.arange(100_000, dtype=np.int32)
    scattered = np.random.default_rng(0).integers(-(2**31), 2**31, 1_000).astype(np.int32)
    empty = len(pack({}, {"x": up[:0]}))

    assert len(pack({}, {"x": up})) < empty + 32
    assert len(pack({}, {"x": scattered})) <= empty + 4 * 1_000 + 16


@pytest.mark.parametrize(("kept", "why"), [(0, "not a log"), (-9, "cut short|damaged")])
def test_what_is_cut_short_is_refused(kept, why):
    data = pack({}, {"x": np.array([1, 9, 4, 4, 4, 4, 4, 90, 7] * 9, np.int32)})

    with pytest.raises(ValueError, match=why):
        unpack(data[:kept])


def test_the_header_alone():
    assert unpack_header(pack({"num_steps": 7}, {}))["num_steps"] == 7
