"""Byte-level BPE, by value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.errors import UserError
from foresay.text.subwords import Subwords

ENGLISH = "walking talking eat talk walk eat reading read " * 50


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_round_trip_of_all_text(text):
    tokens = Subwords(size=300)
    tokens.learn([ENGLISH])
    assert tokens.decode(tokens.encode(text)) == text


def test_eating_is_eat_and_ing():
    tokens = Subwords(size=275)
    tokens.learn([ENGLISH])
    assert tokens.pieces(tokens.encode(" eating")) == [" eat", "ing"]


def test_merges_follow_the_counts():
    """`ab` 5 times and `bc` 3 times: ab is merged first, and c joins it."""
    tokens = Subwords(size=263)
    tokens.learn(["ab\nab\nabc\nabc\nabc"])
    assert tokens.pieces(range(261, len(tokens))) == ["ab", "abc"]


def test_too_small_a_size_says_what_is_allowed():
    with pytest.raises(UserError, match="size=260; allowed: 261 or more"):
        Subwords(size=260)
    tokens = Subwords(size=261)
    tokens.learn([ENGLISH])
    assert len(tokens) == 261 and len(tokens.encode("eat")) == 3


def test_no_merge_spells_a_mark():
    tokens = Subwords(size=400)
    tokens.learn(["<stop> <pad>\n" * 500])
    assert min(tokens.encode("<stop><pad>")) >= 5
    assert tokens.decode(tokens.encode("<stop>")) == "<stop>"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("A 11-year-old boy", ["A", " 11", "-", "year", "-", "old", " boy"]),
        ("12345*54321", ["123", "45", "*", "543", "21"]),
        ("it's  two\n\n blanks \n", ["it", "'s", " ", " two", "\n", "\n", " blanks", " ", "\n"]),
        ("a\t\tb \t c", ["a", "\t\t", "b", " \t", " c"]),
        ("中文 English", ["中文", " English"]),
    ],
)
def test_words_before_merging(text, pieces):
    """With all pairs merged, the tokens are the words that pairs are merged within."""
    tokens = Subwords(size=2000)
    tokens.learn([(text + "\n") * 10])
    assert tokens.pieces(tokens.encode(text)) == pieces


def test_at_most_sample_characters_are_used():
    tokens = Subwords(size=300, sample=6)
    tokens.learn(["ababab", "cdcdcd" * 9])
    assert {"ab", "abab"} & set(tokens.pieces(range(261, len(tokens))))
    assert not any("c" in piece for piece in tokens.pieces(range(261, len(tokens))))


def test_an_error_in_the_stream_is_raised():
    def broken():
        yield "some text"
        raise UserError("no more")

    with pytest.raises(UserError, match="no more"):
        Subwords().learn(broken())
