"""An n-gram model with its words: lines of text in, log-probabilities out, without torch.

model = WordModel.train(lines, order=5)        or  WordModel.read("model.arpa.gz")
model.score(["the cat sat", "sat the cat"])    natural logarithms, one for each line, its end counted
model.write("model.arpa")
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from pathlib import Path

import numpy as np

from foresay.counts import arpa
from foresay.counts.count import LIMIT, Flat
from foresay.counts.smoothing import ModifiedKneserNey, Smoothing
from foresay.counts.table import Table
from foresay.counts.train import train
from foresay.text.tokens import SPECIALS, STOP, UNK

END = arpa.SPECIAL[STOP]


@dataclass(frozen=True)
class WordModel:
    """Words are what blanks separate; `<unk>` in a text is a word like any other, and what every unknown word is."""

    table: Table
    words: Sequence[str]

    @classmethod
    def train(
        cls,
        lines: Iterable[str],
        order: int = 5,
        smoothing: Smoothing | None = None,
        *,
        cut: Sequence[int] = (),
        prune: float = 0.0,
        limit: int = LIMIT,
    ) -> WordModel:
        """Counts lines, each a text of its own; an empty one too, which says that a text may end at once."""
        words: list[str] = [*SPECIALS]
        known = _numbers_of(SPECIALS)
        ids: list[np.ndarray] = []
        for line in lines:
            parts = line.split()
            for word in parts:
                if word not in known:
                    known[word] = len(words)
                    words.append(word)
            ids.append(np.array([*map(known.__getitem__, parts), STOP], np.int32))
        text = Flat(np.concatenate(ids) if ids else np.zeros(0, np.int32))
        smoothing = smoothing or ModifiedKneserNey()
        table, _ = train(text, len(words), order, smoothing, cut=cut, prune=prune, limit=limit)
        return cls(table, words)

    @classmethod
    def read(cls, path: str | Path) -> WordModel:
        """The model of an ARPA file, plain or packed."""
        return cls(*arpa.read(path))

    def write(self, path: str | Path) -> None:
        """The model as an ARPA file, packed where its name ends with .gz."""
        arpa.write(path, self.table, self.words)

    def score(self, lines: Sequence[str]) -> np.ndarray:
        """log P of each line and its end."""
        from foresay.kernels import ngram as kernel  # numba takes a second to import

        ids = self.ids(lines)
        ends = np.flatnonzero(ids == STOP)
        found = np.zeros(len(ends))
        kernel.sum_rows(ids, ends, self.table.start, found, *self.table.walk())
        return found

    def perplexity(self, lines: Sequence[str]) -> float:
        """Of all words of the lines and their ends."""
        return math.exp(-self.score(lines).sum() / len(self.ids(lines)))

    def ids(self, lines: Sequence[str]) -> np.ndarray:
        """The ids of lines, each with STOP at its end."""
        text = f" {END} ".join([*lines, ""])
        words = text.split()
        found = np.fromiter(map(self._marked.get, words, repeat(UNK)), np.int32, len(words))
        if np.count_nonzero(found == STOP) == len(lines):
            return found
        known = _numbers_of(self.words)
        each = (
            [*map(known.get, line.split(), repeat(UNK)), STOP] for line in lines
        )  # the mark stands in a line as a word
        return np.array([number for line in each for number in line], np.int32)

    @cached_property
    def _marked(self) -> dict[str, int]:
        """The ids of words and of the mark of an end."""
        return {**_numbers_of(self.words), END: STOP}


def _numbers_of(words: Sequence[str]) -> dict[str, int]:
    """The ids of words; padding and the marks of a text's start and end are no words."""
    known = {word: number for number, word in enumerate(words) if number == UNK or number >= len(SPECIALS)}
    known[arpa.SPECIAL[UNK]] = UNK
    return known
