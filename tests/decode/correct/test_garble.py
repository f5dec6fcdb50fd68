"""Made mistakes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.decode.correct.garble import garble, sentences
from foresay.errors import UserError
from tests.decode.correct.test_edits import distance

TEXTS = sentences(["The cat sees the old dog . A bird ?", "It is the red house of the small river ! x", "no end here"])


def test_sentences_end_with_a_stop():
    assert TEXTS == ["The cat sees the old dog .", "It is the red house of the small river !"]


@given(st.integers(0, 10**6))
def test_one_edit_in_one_word(seed):
    found = garble(TEXTS, 2, seed)
    assert found == garble(TEXTS, 2, seed) and len(found) == 4
    for wrong, clean in zip(found[::2], found[1::2], strict=True):
        assert clean.wrong == clean.right == wrong.right
        other = [(a, b) for a, b in zip(wrong.wrong.split(), wrong.right.split(), strict=True) if a != b]
        assert len(other) == 1 and distance(*other[0]) == 1


def test_nothing_to_garble():
    for texts in (["1 2 3 4 5 ."], sentences(["The cat sat. It ran off."])):
        with pytest.raises(
            UserError, match=r"^no sentence .* 5 to 40 words between blanks that end in \. \? or !, one of"
        ):
            garble(texts, 3)
