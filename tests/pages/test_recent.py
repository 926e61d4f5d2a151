"""The store of runs: what was asked for last stays, and all of it weighs no more than it may."""

from pages.ui.recent import Recent


def test_the_oldest_goes():
    kept = Recent(2)
    for key in "ab":
        kept.put(key, key)
    kept.get("a")
    kept.put("c", "c")

    assert [kept.get(key) for key in "abc"] == ["a", None, "c"]


def test_the_weight_is_bounded_and_the_newest_stays():
    kept = Recent(9, 10, lambda value: value)
    for key, weight in zip("abc", (4, 5, 6), strict=True):
        kept.put(key, weight)
    assert [kept.get(key) for key in "abc"] == [None, None, 6]
    kept.put("d", 99)
    assert [kept.get(key) for key in "cd"] == [None, 99]
