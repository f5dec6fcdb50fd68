"""Texts of eight languages: as many of each, no word of train in valid or test, the same for a seed."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("simplemma")

from foresay.data.languages import LANGUAGES, TEXTS, languages


def test_texts_of_eight_languages() -> None:
    found = languages(1)
    for name, texts in found.items():
        assert Counter(code for _, code in texts) == dict.fromkeys(LANGUAGES, TEXTS[name])
        assert {len(text.split()) for text, _ in texts} == {2, 3, 4}
    words = {name: {word for text, _ in texts for word in text.split()} for name, texts in found.items()}
    assert not words["train"] & (words["valid"] | words["test"]) and not words["valid"] & words["test"]
    owners: dict[str, set[str]] = {}
    for text, code in found["train"]:
        for word in text.split():
            owners.setdefault(word, set()).add(code)
    assert {len(codes) for codes in owners.values()} == {1}
    assert found["train"][0][1] != found["train"][1][1] or found["train"][1][1] != found["train"][2][1]
