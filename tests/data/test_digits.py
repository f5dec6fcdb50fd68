"""Handwritten digits: scikit-learn's own, each once."""

from __future__ import annotations

from collections import Counter

import numpy as np
from sklearn.datasets import load_digits

from foresay.data.digits import digits


def test_every_digit_once_with_its_label() -> None:
    parts = digits(1)
    assert {name: len(rows) for name, rows in parts.items()} == {"train": 1297, "valid": 250, "test": 250}
    library = load_digits()
    images, labels = (library[name] for name in ("images", "target"))
    wanted = Counter(
        (bytes(np.rint(image * 255 / 16).astype(np.uint8)), str(label))
        for image, label in zip(images, labels, strict=True)
    )
    assert Counter((bytes(image), label) for rows in parts.values() for image, label in rows) == wanted
    levels = {int(value) * 17 // 256 for image, _ in parts["train"] for value in image.reshape(-1)}
    assert levels == set(range(17))  # 16 v / 255 of v greys: none is lost with tokens.number=17


def test_the_seed_says_which() -> None:
    one, other = (digits(seed)["test"] for seed in (1, 2))
    assert not all(np.array_equal(a, b) for (a, _), (b, _) in zip(one, other, strict=True))
    assert all(np.array_equal(a, b) for (a, _), (b, _) in zip(one, digits(1)["test"], strict=True))
