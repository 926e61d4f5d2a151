"""Words stand for tokens: cut in one obvious way, and the same word is always the same token."""

from hypothesis import given
from hypothesis import strategies as st

from sim.words import split, token_id, word


def test_words_and_signs_are_cut_and_spaces_only_separate():
    assert split("You're  a\thelpful_bot.\nOK?") == [
        *("You", "'", "re", "a", "helpful_bot", ".", "OK", "?")
    ]


def test_nothing_is_no_word():
    assert split("") == split(" \n\t\0") == []


def test_a_run_without_end_is_cut_so_that_an_id_stays_small():
    assert [len(piece) for piece in split("x" * 60)] == [24, 24, 12]


def test_any_writing_can_be_a_token():
    assert split("naïve 日本語 😀") == ["naïve", "日本語", "😀"]


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_ids_are_words_and_back(text):
    words = split(text)
    assert [word(token_id(w)) for w in words] == words
    assert len({token_id(w) for w in words}) == len(set(words))


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_only_white_space_is_lost(text):
    assert "".join(split(text)) == "".join(text.replace("\0", " ").split())
