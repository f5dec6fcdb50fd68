"""Rows of digits: their digits are those of one part of builtin:digits, in the order of the text."""

from __future__ import annotations

import numpy as np

from foresay.data.digits import digits
from foresay.data.numbers import numbers


def test_rows_are_made_of_the_parts_own_digits() -> None:
    """From the left some digit of the text's figure fits, after 0 to 2 black columns, until the row is used up."""
    for name in ("valid", "test"):
        own: dict[str, list[np.ndarray]] = {}
        for image, label in digits(1)[name]:
            own.setdefault(label, []).append(image)
        for picture, text in numbers(1)[name][:40]:
            assert picture.shape[0] == 8 and 2 <= len(text) <= 5
            ends = {0}
            for place, label in enumerate(text):
                begins = {end + gap for end in ends for gap in range(3 if place else 1)}
                begins = {at for at in begins if not picture[:, max(ends) : at].any()} if place else begins
                ends = {
                    at + 8 for at in begins if any(np.array_equal(picture[:, at : at + 8], one) for one in own[label])
                }
                assert ends
            assert picture.shape[1] in ends


def test_the_seed_says_which() -> None:
    one, other = numbers(1)["test"][0], numbers(2)["test"][0]
    assert one[1] == numbers.__wrapped__(1)["test"][0][1]
    assert one[1] != other[1] or not np.array_equal(one[0], other[0])
    assert {name: len(rows) for name, rows in numbers(1).items()} == {"train": 8000, "valid": 500, "test": 500}
