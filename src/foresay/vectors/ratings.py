"""Pairs of words rated by people: files of them, and how well cosines agree with the ratings.

    tiger  cat  7.35                     words and rating, between tabs or blanks; lines that begin with # are comments
    ,word1,word2,similarity              or a table with a heading
    0,tiger,cat,7.35

Agreement is the correlation of ranks (Spearman; equal values share their mean rank) and of values (Pearson), on the
pairs whose two words have vectors; the 95 % interval is of the first, by drawing pairs anew (bootstrap).
"""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foresay.errors import UserError
from foresay.vectors.bands import NAMES, bands
from foresay.vectors.nearest import unit_rows
from foresay.vectors.questions import lines_of
from foresay.vectors.word_vectors import WordVectors

DRAWS = 1000
FEWEST = 3  # pairs that a correlation is given for
COLUMNS = ("word1", "word2", "similarity")
_TAGGED = re.compile(r".+-[nvj]")  # noun, verb, adjective: as MEN writes its words


@dataclass(frozen=True)
class Ratings:
    """Pairs of words, and what people gave each."""

    name: str
    pairs: list[tuple[str, str]]
    scores: list[float]


@dataclass(frozen=True)
class Agreement:
    """How well cosines agree with ratings; None where too few pairs are covered."""

    name: str
    pairs: int
    covered: int
    spearman: float | None
    pearson: float | None
    interval: tuple[float, float] | None
    bands: dict[str, tuple[int, float | None]]  # by frequency: pairs and Spearman

    @property
    def coverage(self) -> float:
        return self.covered / self.pairs

    def as_dict(self) -> dict[str, Any]:
        about: dict[str, Any] = {"file": self.name, "pairs": self.pairs, "covered": self.covered}
        about |= {"coverage": self.coverage, "spearman": self.spearman, "interval": self.interval}
        split = {name: {"pairs": pairs, "spearman": found} for name, (pairs, found) in self.bands.items()}
        return about | {"pearson": self.pearson, "bands": split}


def read(path: str | Path) -> Ratings:
    """The pairs of a file."""
    path = Path(path)
    lines = [(number, line) for number, line in enumerate(lines_of(path), 1) if line.strip() and line[0] != "#"]
    if not lines:
        raise UserError(f"{path} holds no pairs; allowed: lines of two words and a rating")
    table = {"word1", "word2"} <= set(lines[0][1].strip().split(","))
    cells = _of_table(path, lines) if table else _of_lines(lines)
    pairs: list[tuple[str, str]] = []
    scores: list[float] = []
    for number, words in cells:
        rating = _rating(words)
        if rating is None:
            raise UserError(f"{path} line {number}: no two words and a finite rating; write such as: tiger cat 7.35")
        pairs.append((words[0].strip(), words[1].strip()))
        scores.append(rating)
    if not pairs:
        raise UserError(f"{path} holds no pairs; allowed: lines of two words and a rating")
    if all(_TAGGED.fullmatch(word) for pair in pairs for word in pair):
        pairs = [(one[:-2], other[:-2]) for one, other in pairs]
    return Ratings(path.name, pairs, scores)


def _of_table(path: Path, lines: list[tuple[int, str]]) -> list[tuple[int, list[str]]]:
    """Words and rating of a table, by the names of its columns."""
    heading = [name.strip() for name in lines[0][1].split(",")]
    missing = [name for name in COLUMNS if name not in heading]
    if missing:
        raise UserError(f"{path} line {lines[0][0]}: no column {missing[0]}; needed {', '.join(COLUMNS)}")
    places = [heading.index(name) for name in COLUMNS]
    found = []
    for number, line in lines[1:]:
        try:
            row = next(csv.reader([line]))
        except csv.Error:
            row = []
        cells = [row[place].strip() for place in places] if len(row) == len(heading) else []
        if any(cells) or not cells:  # some published tables end with an empty row
            found.append((number, cells))
    return found


def _of_lines(lines: list[tuple[int, str]]) -> list[tuple[int, list[str]]]:
    """What stands between tabs, or blanks where there are none; a first line without a rating is a heading."""
    found = [(number, line.split("\t" if "\t" in line else None)) for number, line in lines]
    return found[1:] if len(found) > 1 and _rating(found[0][1]) is None else found


def _rating(words: list[str]) -> float | None:
    try:
        found = float(words[2])
    except (IndexError, ValueError):
        return None
    return found if math.isfinite(found) else None


def evaluate(vectors: WordVectors, ratings: Ratings, *, unseen: bool = False, seed: int = 1) -> Agreement:
    """Compares cosines with ratings; `unseen` also takes words without a row, by their spelling."""
    if unseen and vectors.spelling is None:
        raise UserError(
            "--unseen (unseen=True) makes vectors of character n-grams, and these have none; train with "
            "spelling=ngrams, or leave it out"
        )
    pairs = [[word.lower() if vectors.lower else word for word in pair] for pair in ratings.pairs]
    found = [[vectors.get(word) if unseen or word in vectors else None for word in pair] for pair in pairs]
    covered = [number for number, pair in enumerate(found) if all(vector is not None for vector in pair)]
    left, right = (
        unit_rows(np.array([found[number][side] for number in covered], np.float32).reshape(-1, vectors.width))
        for side in (0, 1)
    )
    cosines = np.einsum("nd,nd->n", left, right, dtype=np.float64)
    scores = np.array(ratings.scores)[covered]
    ranks = [[_rank(vectors, word) for word in pairs[number]] for number in covered]
    band = bands(np.array(ranks, np.int64).reshape(-1, 2))
    split = {
        name: (int((band == number).sum()), spearman(cosines[band == number], scores[band == number]))
        for number, name in enumerate(NAMES)
        if (band == number).any()
    }
    interval = _interval(cosines, scores, np.random.default_rng(seed))
    agreed = spearman(cosines, scores), pearson(cosines, scores)
    return Agreement(ratings.name, len(pairs), len(covered), *agreed, interval, split)


def _rank(vectors: WordVectors, word: str) -> int:
    row = vectors.row(word)
    return len(vectors) if row is None else row


def pearson(x: np.ndarray, y: np.ndarray) -> float | None:
    """The correlation of two series; None where there are too few values or one of them never changes."""
    if len(x) < FEWEST:
        return None
    x, y = x - x.mean(), y - y.mean()
    length = math.sqrt(float(x @ x) * float(y @ y))
    return float(np.clip(x @ y / length, -1, 1)) if length > 0 else None


def spearman(x: np.ndarray, y: np.ndarray) -> float | None:
    """The correlation of ranks."""
    return pearson(ranks_of(*_codes(x)), ranks_of(*_codes(y)))


def _codes(values: np.ndarray) -> tuple[np.ndarray, int]:
    """The number of each value among the different ones, smallest first, and how many these are."""
    different, codes = np.unique(values, return_inverse=True)
    return codes, len(different)


def ranks_of(codes: np.ndarray, different: int) -> np.ndarray:
    """Ranks from 1; equal values share the mean of their ranks."""
    counts = np.bincount(codes, minlength=different)
    return (np.cumsum(counts) - (counts - 1) / 2)[codes]


def _interval(x: np.ndarray, y: np.ndarray, draw: np.random.Generator) -> tuple[float, float] | None:
    """The 95 % interval of Spearman's correlation, by the percentiles of pairs drawn anew."""
    codes = [_codes(x), _codes(y)]
    drawn = (draw.integers(0, len(x), len(x)) for _ in range(DRAWS if len(x) >= FEWEST else 0))
    found = [pearson(*(ranks_of(code[rows], number) for code, number in codes)) for rows in drawn]
    kept = [one for one in found if one is not None]
    if not kept:
        return None
    low, high = np.percentile(kept, [2.5, 97.5]).tolist()
    return low, high
