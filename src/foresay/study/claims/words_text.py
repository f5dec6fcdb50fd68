"""Texts in memory for the claims on word vectors, and the files that judge the vectors.

Ids are as in shards: SPECIALS, then words by falling frequency; words rarer than `least` are unknown.
"""

from __future__ import annotations

import itertools
import lzma
import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from foresay.data.builtin import python_reference
from foresay.text.tokens import SPECIALS, STOP, UNK

LEAST = 5
TEXTS = ("text8/text8", "enwiki-text8-format/enwiki.xz")  # lower-case words between blanks, no lines
JUDGES = {
    "analogies": "questions-words.txt",
    "WordSim-353": "gensim-wordsim353.tsv",
    "MEN": "men.csv",
    "rare words": "rw.csv",
}
LETTERS = 6  # of a word and its blank, more than on average in English


@dataclass(frozen=True)
class WordsText:
    """The symbols by id, and a text as ids (T,)."""

    words: list[str]
    ids: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    def slice(self, start: int, stop: int) -> np.ndarray:
        return self.ids[start:stop].astype(np.int64)

    def first(self, size: int, least: int = LEAST) -> WordsText:
        """The beginning of the text, with a vocabulary of its own."""
        ids = self.ids[:size]
        counts = np.bincount(ids, minlength=len(self.words))
        counts[: len(SPECIALS)] = 0
        order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts >= least)]
        new = np.full(len(self.words), UNK, np.int32)
        new[: len(SPECIALS)] = np.arange(len(SPECIALS))
        new[order] = np.arange(len(SPECIALS), len(SPECIALS) + len(order))
        return WordsText([*SPECIALS, *(self.words[row] for row in order)], new[ids])


def numbered(documents: Sequence[Sequence[str]], words: Sequence[str]) -> WordsText:
    """Documents as ids of these words, a STOP after each."""
    rows = {word: row for row, word in enumerate(words)}
    ids = itertools.chain.from_iterable((*(rows.get(word, UNK) for word in one), STOP) for one in documents)
    return WordsText(list(words), np.fromiter(ids, np.int32))


def vocabulary(documents: Iterable[Sequence[str]], least: int = LEAST) -> list[str]:
    """SPECIALS, then the words that stand often enough."""
    counts = Counter(itertools.chain.from_iterable(documents))
    return [*SPECIALS, *(word for word, count in counts.most_common() if count >= least)]


def built_in(seed: int, share: float = 0.1, least: int = LEAST) -> tuple[WordsText, WordsText]:
    """The Python reference and the part held out of it: paragraphs by chance. Those met twice are there once."""
    pieces = re.split(r"\n\s*\n", python_reference().decode())
    found = dict.fromkeys(tuple(re.findall(r"[^\W\d_]+", piece.lower())) for piece in pieces)
    paragraphs = [one for one in found if len(one) > 1]
    random.Random(seed).shuffle(paragraphs)
    cut = round(share * len(paragraphs))
    words = vocabulary(paragraphs[cut:], least)
    return numbered(paragraphs[cut:], words), numbered(paragraphs[:cut], words)


def wikipedia(size: int | None) -> WordsText | None:
    """The first `size` words of the text under FORESAY_DATA, or all; None where there is none."""
    path = next((path for name in TEXTS if (path := _place(name)) is not None), None)
    if path is None:
        return None
    with lzma.open(path, "rt") if path.suffix == ".xz" else path.open(encoding="utf-8") as file:
        words = file.read(-1 if size is None else LETTERS * size + LETTERS).split()[:size]
    return numbered([words], vocabulary([words]))


def judges(*names: str) -> dict[str, Path] | None:
    """The files that judge vectors, by their names in JUDGES; None where one is missing."""
    found = {name: _place(f"word-eval/{JUDGES[name]}") for name in names}
    return {name: path for name, path in found.items() if path} if all(found.values()) else None


def needed(*names: str) -> str:
    """What to fetch."""
    sources = {
        "questions-words.txt": "github.com/tmikolov/word2vec",
        "gensim-wordsim353.tsv": "gensim/test/test_data/wordsim353.tsv of github.com/piskvorky/gensim",
    }
    files = {JUDGES[name]: sources.get(JUDGES[name], "github.com/vecto-ai/word-benchmarks") for name in names}
    wanted = ["text8/text8 (mattmahoney.net/dc/text8.zip)"]
    wanted += [f"word-eval/{file} ({source})" for file, source in files.items()]
    return f"set FORESAY_DATA to a folder that holds {', '.join(wanted)}"


def _place(name: str) -> Path | None:
    root = os.environ.get("FORESAY_DATA")
    path = Path(root).expanduser() / name if root else None
    return path if path is not None and path.is_file() else None
