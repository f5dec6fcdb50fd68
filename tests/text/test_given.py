"""What stands for texts in Python, and what does not: said with its number."""

from __future__ import annotations

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.text.given import texts_of


def test_one_text_or_any_number():
    assert texts_of("ab") == ["ab"] and texts_of([]) == []
    for given in (["a", "b"], ("a", "b"), iter("ab"), {"a": 1, "b": 2}, np.array(["a", "b"])):
        assert texts_of(given) == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (5, "texts=5; allowed: text, or a list of texts"),
        (None, "texts=None; allowed: text, or a list of texts"),
        (b"ab", "texts=b'ab'; allowed: text, or a list of texts"),
        (["a", 5, None], "text 2 of 3 is 5; allowed: text"),
        ([["a"]], "text 1 of 1 is ['a']; allowed: text"),
        ([[0] * 99], f"text 1 of 1 is [{'0, ' * 19}0,; allowed: text"),
    ],
)
def test_what_is_no_text(given, error):
    with pytest.raises(UserError) as raised:
        texts_of(given)
    assert str(raised.value) == error
