"""An n-gram model with its words: lines of text in, log-probabilities out, without torch.

model = WordModel.train(lines, order=5)        or  WordModel.read("model.arpa.gz"), WordModel.load("runs/kn")
model.score(["the cat sat", "sat the cat"])    natural logarithms, one for each line, its end counted
model.write("model.arpa")
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from foresay import parts
from foresay.counts import arpa, run_folder
from foresay.counts.count import LIMIT, Flat
from foresay.counts.smoothing import Smoothing
from foresay.counts.table import Table
from foresay.counts.threads import in_parts
from foresay.counts.train import train
from foresay.errors import UserError
from foresay.text.tokens import SPECIALS, STOP, UNK

if TYPE_CHECKING:
    from foresay.kernels.ngram.walk import Walk
    from foresay.kernels.ngram.words import Text, Words

Given = TypeVar("Given")
ENDINGS = (".arpa", ".lm", ".arpa.gz", ".lm.gz")  # of files to write; to read, any will do


@dataclass(frozen=True)
class WordModel:
    """Words are what blanks separate; `<unk>` in a text is a word like any other, and what every unknown word is."""

    table: Table
    words: Sequence[str]
    place: Path | None = None  # where the table lies that is still to be checked

    @classmethod
    def train(
        cls,
        lines: Iterable[str],
        order: int = 5,
        smoothing: Smoothing | str | None = None,
        *,
        cut: Sequence[int] = (),
        prune: float = 0.0,
        limit: int = LIMIT,
    ) -> WordModel:
        """Counts lines, each a text of its own; an empty one too, which says that a text may end at once.

        `smoothing` is one of foresay.counts.smoothing, or its name; by default modified-kneser-ney.
        """
        order = parts.fits(parts.Size, order, "order")
        cut = parts.fits(list[parts.Count], list(cut) if isinstance(cut, Sequence) else cut, "cut")
        prune, limit = parts.fits(parts.Amount, prune, "prune"), parts.fits(parts.Size, limit, "limit")
        smoothing = parts.make("smoothing", smoothing if smoothing is not None else "modified-kneser-ney")
        assert isinstance(smoothing, Smoothing)
        words: list[str] = [*SPECIALS]
        known = _numbers_of(SPECIALS)
        ids: list[np.ndarray] = []
        for line in _lines(lines):
            if not isinstance(line, str):
                raise _no_line(line)
            split = line.split()
            for word in split:
                if word not in known:
                    known[word] = len(words)
                    words.append(word)
            ids.append(np.array([*map(known.__getitem__, split), STOP], np.int32))
        text = Flat(np.concatenate(ids) if ids else np.zeros(0, np.int32))
        table, _ = train(text, len(words), order, smoothing, cut=cut, prune=prune, limit=limit)
        return cls(table, words)

    @classmethod
    def read(cls, path: str | Path) -> WordModel:
        """The model of an ARPA file, plain or packed."""
        return cls(*arpa.read(Path(path).expanduser()))

    @classmethod
    def load(cls, folder: str | Path) -> WordModel:
        """The model of an n-gram run of words between blanks; its table stays on the disk."""
        place = Path(folder).expanduser()
        return cls(*run_folder.read(place), place)

    def write(self, path: str | Path) -> None:
        """The model as an ARPA file (.arpa, .lm), packed where its name ends with .gz."""
        place = Path(path).expanduser()
        if not place.is_dir() and not place.name.endswith(ENDINGS):
            raise UserError(f"{place}: a model is written as an ARPA file; allowed: a name *{', *'.join(ENDINGS)}")
        arpa.write(place, self.table, self.words)

    def __repr__(self) -> str:
        words, grams = len(self.words) - len(SPECIALS), int(self.table.orders[-1]) - 1
        return f"WordModel(order {self.table.order}, {words:,} words, {grams:,} n-grams)"

    def score(self, lines: Sequence[str]) -> np.ndarray:
        """log P of each line and its end."""
        from foresay.kernels.ngram import walk as kernel  # numba takes a second to import

        lines = list(_lines(lines))
        text, words, table, start = _text(lines), self._spelt, self._walk, self.table.start
        found = np.zeros(len(lines))

        def score(low: int, high: int) -> None:
            ids, ends = _find(text, low, high, words)
            begins, contexts, logs = np.concatenate([[0], ends[:-1]]), np.full(len(ends), start), np.empty(len(ids))
            kernel.walk_rows(0, len(ends), ids, begins, ends, contexts, logs, table)
            found[low:high] = np.add.reduceat(logs, begins)

        in_parts(score, len(lines))
        return found

    def perplexity(self, lines: Sequence[str]) -> float:
        """Of all words of the lines and their ends."""
        lines = list(_lines(lines))
        if not lines:
            raise UserError("no lines have no perplexity; give one or more")
        return math.exp(-self.score(lines).sum() / len(self.ids(lines)))

    def ids(self, lines: Sequence[str]) -> np.ndarray:
        """The ids of lines, each with STOP at its end; words are what Python's `split` gives."""
        lines = list(_lines(lines))
        return _find(_text(lines), 0, len(lines), self._spelt)[0]

    @cached_property
    def _walk(self) -> Walk:
        wrong = None if self.place is None else self.table.what_is_wrong(len(self.words))
        if wrong is not None:
            raise UserError(f"{self.place} is damaged or not of one run: {wrong} does not fit; copy it again")
        return self.table.walk

    @cached_property
    def _spelt(self) -> Words:
        """The words by their letters."""
        from foresay.kernels.ngram.words import spelt_words  # numba takes a second to import

        return spelt_words(_numbers_of(self.words), len(self.words), UNK, STOP)


def _lines(lines: Given) -> Given:
    """Lines, which one string is not."""
    if isinstance(lines, (str, bytes)):
        raise UserError(f"{lines[:20]!r} is one string; allowed: a list of lines: text.splitlines()")
    if not isinstance(lines, Iterable):
        raise UserError(f"{str(lines)[:40]!r} is no list of lines; allowed: lines of text: text.splitlines()")
    return lines


def _no_line(given: object) -> UserError:
    remedy = "decode it first" if isinstance(given, bytes) else "give lines of text"
    return UserError(f"{repr(given)[:40]} is no line but {type(given).__name__}; allowed: strings: {remedy}")


def _text(lines: Sequence[str]) -> Text:
    """Lines as bytes, and zeros to the next multiple of eight and eight more."""
    from foresay.kernels.ngram.words import Text

    try:
        rows = [line.encode("utf-8", "surrogatepass") for line in lines]
    except AttributeError:
        raise _no_line(next(line for line in lines if not isinstance(line, str))) from None
    begins = np.cumsum([0, *map(len, rows)])
    letters = np.frombuffer(b"".join([*rows, bytes(16 - int(begins[-1]) % 8)]), np.uint8)
    return Text(letters, letters.view(np.uint64), begins)


def _find(text: Text, low: int, high: int, words: Words) -> tuple[np.ndarray, np.ndarray]:
    """The ids of some lines of a text, and where each line ends among them."""
    from foresay.kernels.ngram import words as kernel  # numba takes a second to import

    size = text.begins[high] - text.begins[low]
    found, ends = np.empty(size // 2 + 2 * (high - low), np.int32), np.zeros(high - low, np.int64)
    kernel.find_words(low, high, text, words, found, ends)
    return found[: ends[-1] if len(ends) else 0], ends


def _numbers_of(words: Sequence[str]) -> dict[str, int]:
    """The ids of words; padding and the marks of a text's start and end are no words."""
    known = {word: number for number, word in enumerate(words) if number >= len(SPECIALS)}
    known[arpa.SPECIAL[UNK]] = UNK
    return known
