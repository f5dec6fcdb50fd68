"""Levels, by value."""

import pytest

from foresay.errors import UserError
from foresay.text.levels import Levels
from foresay.text.tokens import UNK


def test_ids_are_five_plus_the_level():
    tokens = Levels(16)
    assert len(tokens) == 21
    assert tokens.encode("0 3  15\n").tolist() == [5, 8, 20]
    assert tokens.decode([2, 5, 8, 20, 3]) == "0 3 15"
    assert tokens.pieces([2, 5, 20]) == ["<start>", "0", "15"]


@pytest.mark.parametrize("word", ["16", "-1", "03", "1.0", "two", "³"])
def test_what_is_no_level_is_unknown(word):
    assert Levels(16).encode(f"1 {word}").tolist() == [6, UNK]


def test_nothing_is_learnt():
    tokens = Levels(4)
    tokens.learn(["9 9 9 a b"])
    assert tokens.pieces(range(5, 9)) == ["0", "1", "2", "3"]


def test_another_number_than_was_saved(tmp_path):
    Levels(4).save(tmp_path)
    with pytest.raises(UserError, match=r"has 4 levels, and the recipe 8; set tokens\.number to 4"):
        Levels(8).load(tmp_path)
