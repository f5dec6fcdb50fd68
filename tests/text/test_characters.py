"""Characters, by value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.text.characters import Characters
from foresay.text.tokens import UNK

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(text=TEXT)
def test_round_trip_of_known_characters(text):
    tokens = Characters()
    tokens.learn([text[:1], text[1:]])
    assert tokens.decode(tokens.encode(text)) == text
    assert len(tokens) == 5 + len(set(text))


def test_most_frequent_first_ties_by_code_point():
    tokens = Characters()
    tokens.learn(["cbbaa", "😀😀😀中"])
    assert tokens.pieces(range(5, len(tokens))) == ["😀", "a", "b", "c", "中"]
    assert tokens.encode("a中x").tolist() == [6, 9, UNK]
    assert tokens.decode([6, UNK, 9]) == "a\ufffd中"


@pytest.mark.parametrize(
    ("settings", "kept"), [({"size": 7}, ["b", "a"]), ({"min_count": 2}, ["b", "a"]), ({}, list("bac"))]
)
def test_size_and_min_count(settings, kept):
    tokens = Characters(**settings)
    tokens.learn(["bbbaac"])
    assert tokens.pieces(range(5, len(tokens))) == kept


def test_a_lone_surrogate_is_unknown():
    tokens = Characters()
    tokens.learn(["a\ud800"])
    assert tokens.encode("a\ud800").tolist() == [5, UNK]
