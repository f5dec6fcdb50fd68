"""A text small enough for every claim on word vectors."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from foresay.study.claims.words_text import WordsText, numbered, vocabulary

WORDS = "the cat dog bird sees hears likes a small old red house tree river and then under over it".split()  # noqa: SIM905


@pytest.fixture
def small_texts() -> Callable[[int], tuple[WordsText, WordsText]]:
    """What stands for `built_in`: a text of made-up sentences, and a part held out."""

    def made(seed: int) -> tuple[WordsText, WordsText]:
        draw = random.Random(seed)
        sentences = [draw.choices(WORDS, k=8) for _ in range(60)]
        words = vocabulary(sentences[10:], least=1)
        return numbered(sentences[10:], words), numbered(sentences[:10], words)

    return made
