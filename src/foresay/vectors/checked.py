"""What WordVectors is made of, checked; and the error of a word that has no vector."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from foresay.errors import UserError, nearest

OFFERED = 30_000  # words among which a misspelt one is looked for
STEP = 1 << 22  # numbers checked at a time


class NotFinite(UserError):
    """A vector with NaN or infinity."""


class UnknownWord(UserError, KeyError):
    """A word without a vector; the nearest spelling is looked for when the line is asked for."""

    def __init__(self, word: str, words: Sequence[str], allowed: str = "words of the vectors"):
        super().__init__(word)
        self.word, self.words, self.allowed = word, words, allowed

    def __str__(self) -> str:
        lower = self.word.lower()
        alike = next((one for one in (lower, f" {self.word}", f" {lower}") if one in self.words), None)
        near = f"; did you mean '{alike}'?" if alike else nearest(self.word, self.words[:OFFERED])
        return f"the word {self.word!r} has no vector; allowed: the {len(self.words):,} {self.allowed}{near}"


def checked_words(words: Sequence[str]) -> list[str]:
    """The words as a list, if they are some; that each is there once is checked where they are numbered."""
    if not isinstance(words, Iterable):
        raise UserError(f"words={words!r}; allowed: a list of words")
    found = list(words)
    if not found:
        raise UserError("no words; give one or more")
    for word in found:
        if not isinstance(word, str) or not word:
            raise UserError(f"{word!r} is no word; allowed: strings that are not empty")
    try:
        "".join(found).encode()
    except UnicodeEncodeError as error:
        raise UserError(f"a word holds {error.object[error.start]!r}, which is no character; leave it out") from None
    return found


def checked_matrix(matrix: ArrayLike, rows: int) -> np.ndarray:
    """The matrix as float32, read-only; where it lies on the disk, it stays there."""
    try:
        with np.errstate(over="ignore"):  # what a float32 cannot hold becomes infinite, and is refused
            found = np.asarray(matrix, np.float32).view()
    except (TypeError, ValueError):
        raise UserError("the matrix is no array of numbers; give (words, width) numbers") from None
    if found.ndim != 2 or len(found) != rows or not found.shape[1]:
        raise UserError(f"the matrix has shape {found.shape}; needed (words, width) = ({rows}, 1 or more)")
    found.flags.writeable = False
    check_finite(found, "the matrix")
    return found


def check_finite(matrix: np.ndarray, what: str) -> None:
    """Refuses NaN and infinity; in blocks, so that it takes little memory."""
    step = max(STEP // matrix.shape[1], 1)
    for low in range(0, len(matrix), step):
        finite = np.isfinite(matrix[low : low + step]).all(1)
        if not finite.all():
            row = low + int(finite.argmin())
            raise NotFinite(f"{what} holds a number that is not finite, in row {row} (from 0); leave that row out")


def checked_place(path: str | Path, what: str) -> Path:
    """The path, if it is one, of `what`."""
    if not isinstance(path, str | os.PathLike):
        raise UserError(f"path={path!r}; allowed: the path of {what}")
    return Path(path).expanduser()


def checked_vectors(given: Any, width: int) -> np.ndarray:
    """One vector, or several, as (B, D)."""
    try:
        vectors = np.atleast_2d(np.asarray(given, np.float64))
    except (TypeError, ValueError):
        kind = type(given).__name__
        raise UserError(f"a question that is a {kind}; allowed: a word, a list of words, or finite vectors") from None
    if vectors.ndim != 2 or vectors.shape[1] != width or not np.isfinite(vectors).all():
        raise UserError(f"a question of shape {np.shape(given)}; allowed: finite vectors of width {width}")
    return vectors


def checked_counts(counts: ArrayLike, rows: int) -> np.ndarray:
    found = np.asarray(counts)
    if found.shape != (rows,) or found.dtype.kind not in "iu" or (found < 0).any():
        raise UserError(f"counts are {found.dtype} of shape {found.shape}; needed ({rows},) whole numbers of 0 or more")
    return found.astype(np.int64)
