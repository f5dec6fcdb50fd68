"""An n-gram model with its words: lines of text in, log-probabilities out, without torch.

model = WordModel.train(lines, order=5)        or  WordModel.read("model.arpa.gz")
model.score(["the cat sat", "sat the cat"])    natural logarithms, one for each line, its end counted
model.write("model.arpa")
"""

from __future__ import annotations

import math
import re
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
from foresay.counts.threads import in_parts
from foresay.counts.train import train
from foresay.text.tokens import SPECIALS, STOP, UNK

MARK = "\0"  # between lines
WIDE_BLANKS = re.compile("[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")  # white space beyond ASCII


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
        from foresay.kernels.ngram import walk as kernel  # numba takes a second to import

        ids = self.ids(lines)
        ends = np.flatnonzero(ids == STOP)
        found = np.zeros(len(ends))
        given = (ids, ends, self.table.start, found, *self.table.walk())
        in_parts(lambda low, high: kernel.sum_rows(low, high, *given), len(ends))
        return found

    def perplexity(self, lines: Sequence[str]) -> float:
        """Of all words of the lines and their ends."""
        return math.exp(-self.score(lines).sum() / len(self.ids(lines)))

    def ids(self, lines: Sequence[str]) -> np.ndarray:
        """The ids of lines, each with STOP at its end; words are what Python's `split` gives."""
        text = "".join([line + MARK for line in lines])
        if text.count(MARK) != len(lines) or WIDE_BLANKS.search(text):
            known = _numbers_of(self.words)
            each = ([*map(known.get, line.split(), repeat(UNK)), STOP] for line in lines)
            return np.array([number for line in each for number in line], np.int32)
        from foresay.kernels.ngram import words as kernel  # numba takes a second to import

        letters = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
        ends, counts = np.flatnonzero(letters == ord(MARK)), np.zeros(len(lines), np.int64)
        in_parts(lambda low, high: kernel.count_words(low, high, letters, ends, counts), len(lines))
        after = np.cumsum(counts + 1)
        found = np.full(after[-1] if len(after) else 0, STOP, np.int32)
        given = (letters, ends, after - counts - 1, *self._spelt, UNK, found)
        in_parts(lambda low, high: kernel.find_words(low, high, *given), len(lines))
        return found

    @cached_property
    def _spelt(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The words as letters, where each begins, who stands in which slot, and their ids."""
        from foresay.kernels.ngram import words as kernel

        known = _numbers_of(self.words)
        spelt = [word.encode("utf-8", "surrogatepass") for word in known]
        begins = np.cumsum([0, *map(len, spelt)])
        slots = np.full(1 << (2 * len(spelt) + 1).bit_length(), -1, np.int32)
        letters = np.frombuffer(b"".join(spelt), np.uint8)
        kernel.place_words(letters, begins, slots)
        return letters, begins, slots, np.array(list(known.values()), np.int32)


def _numbers_of(words: Sequence[str]) -> dict[str, int]:
    """The ids of words; padding and the marks of a text's start and end are no words."""
    known = {word: number for number, word in enumerate(words) if number == UNK or number >= len(SPECIALS)}
    known[arpa.SPECIAL[UNK]] = UNK
    return known
