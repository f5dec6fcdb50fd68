"""Facts made by hand for the tests of this folder: a good vocabulary, to be spoilt in one place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from foresay.study.vocabulary.counts import zipf
from foresay.study.vocabulary.facts import About, Curves, Facts, Symbol, Text

WORDS = {"kind": "words", "size": 10000, "min_count": 1}
SUBWORDS = {"kind": "subwords", "size": 2000, "sample": 50_000_000}
CHARACTERS = {"kind": "characters", "size": None, "min_count": 1}
DATA = {"kind": "text", "train": "t", "valid": None, "unit": "document", "holdout": "tail"}
TEXT = Text(documents=1, tokens=100_000, bytes=500_000, characters=500_000, unknown=0.0, rare=0.01)


def curves_of(f: np.ndarray, unknown: int = 0, valid: bool = True) -> Curves:
    """Falling counts as the picture takes them; the validation text is covered a little less."""
    train = np.cumsum(f) / (f.sum() + unknown)
    named = [(10**power, f"w{power}") for power in range(8) if 10**power <= len(f)]
    return Curves(f, train, 0.97 * train if valid else None, named)


def good(
    tokens: dict[str, Any] | None = None,
    train: dict[str, Any] | None = None,
    valid: dict[str, Any] | None = None,
    about: dict[str, Any] | None = None,
    **changes: Any,
) -> Facts:
    """Facts without a fault, with some of them changed."""
    f = np.round(20_000 / np.arange(1, 5001.0)).astype(np.int64)
    texts = {
        "train": replace(TEXT, **train or {}),
        "valid": replace(TEXT, **{"tokens": 10_000, "bytes": 50_000} | (valid or {})),
    }
    facts = Facts(
        about=replace(About("my.txt", tokens or WORDS, DATA, "streams"), **about or {}),
        symbols=5005,
        texts=texts,
        never=0,
        rare=1000,
        alphabet=0,
        rare_learnt=1000,
        once=0.002,
        one_byte=None,
        chinese=0.0,
        coverage={50: 60, 90: 2000, 95: 3000, 99: 4400},
        zipf=zipf(f),
        frequent=[Symbol("the", 20_000, 0.2), Symbol("[bold]", 10_000, 0.1)],
        rarest=[Symbol("\n", 1, 0.00001), Symbol("unity", 2, 0.00002)],
        curves=curves_of(f),
    )
    return replace(facts, **changes)
