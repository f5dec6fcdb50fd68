"""Texts and judges small enough for every claim on word vectors."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from foresay.study.claims import small_text
from foresay.study.claims.words_text import JUDGES, TEXTS, WordsText, numbered, vocabulary

WORDS = "the cat dog bird sees hears likes a small old red house tree river and then under over it".split()  # noqa: SIM905


@pytest.fixture
def small_texts() -> Callable[[int], tuple[WordsText, WordsText]]:
    """What stands for `built_in`: sentences, each mostly of the words of one group, and a part held out."""
    words = [f"{group}{number}" for group in "abcd" for number in range(15)]

    def sentence(draw: random.Random) -> list[str]:
        first = 15 * draw.randrange(4)
        return [draw.choice(words if draw.random() < 0.2 else words[first : first + 15]) for _ in range(8)]

    def made(seed: int) -> tuple[WordsText, WordsText]:
        draw = random.Random(seed)
        sentences = [sentence(draw) for _ in range(200)]
        known = vocabulary(sentences[80:], least=1)
        return numbered(sentences[80:], known), numbered(sentences[:80], known)

    return made


@pytest.fixture
def small_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder FORESAY_DATA with a text of 4,000 words and a file of each judge over its words."""
    draw, folder = random.Random(3), tmp_path / "data"
    for name in (TEXTS[0], "word-eval/any"):
        (folder / name).parent.mkdir(parents=True)
    (folder / TEXTS[0]).write_text(" ".join(draw.choices(WORDS, k=4000)))
    for name, file in JUDGES.items():
        pairs = [draw.sample(WORDS, 2) for _ in range(40)]
        rated = "".join(f"{one}\t{other}\t{draw.random()}\n" for one, other in pairs)
        asked = ": made\n" + "".join(" ".join(draw.sample(WORDS, 4)) + "\n" for _ in range(60))
        (folder / "word-eval" / file).write_text(asked if name == "analogies" else rated)
    monkeypatch.setenv("FORESAY_DATA", str(folder))
    return folder


@pytest.fixture
def few_letters(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What stands for the built-in text by letters: 60 short paragraphs."""
    draw = random.Random(5)
    paragraphs = [" ".join(draw.choices(WORDS, k=30)) for _ in range(60)]
    monkeypatch.setattr(small_text, "python_reference", lambda: "\n\n".join(paragraphs).encode())
    small_text.text_of.cache_clear()
    yield
    small_text.text_of.cache_clear()
