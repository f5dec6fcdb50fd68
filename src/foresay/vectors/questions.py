"""Analogy questions: files of them, and how many the words' vectors answer.

    : capital-common-countries
    Athens Greece Baghdad Iraq              Athens is to Greece as Baghdad is to ?

A question with a word that has no vector is uncovered, not wrong. Sections whose name begins with `gram` are syntactic,
the others semantic. Where the vectors know no capital letters, questions are asked in lower case. `among=30000` asks
the most frequent words alone: a question with another word is uncovered then.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foresay.errors import UserError
from foresay.parts import Size, fits
from foresay.vectors.analogy import Method, answers, check_method
from foresay.vectors.bands import NAMES, bands
from foresay.vectors.word_vectors import WordVectors

Z = 1.959963984540054  # of 95 %


@dataclass(frozen=True)
class Questions:
    """Four words for each question, and the name of its section."""

    name: str
    words: list[list[str]]
    sections: list[str]


@dataclass(frozen=True)
class Share:
    """How many questions there are, how many of them are covered, and how many of those are right."""

    asked: int
    covered: int
    right: int

    @property
    def accuracy(self) -> float | None:
        return self.right / self.covered if self.covered else None

    @property
    def coverage(self) -> float:
        return self.covered / self.asked if self.asked else 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the accuracy (Wilson 1927); None where nothing is covered."""
        if not self.covered:
            return None
        n, p = self.covered, self.right / self.covered
        centre, spread = p + Z * Z / (2 * n), Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
        low, high = ((centre + sign * spread) / (1 + Z * Z / n) for sign in (-1, 1))
        return max(low, 0.0), min(high, 1.0)

    def as_dict(self) -> dict[str, Any]:
        about = {"questions": self.asked, "covered": self.covered, "right": self.right}
        return about | {"coverage": self.coverage, "accuracy": self.accuracy, "interval": self.interval}


@dataclass(frozen=True)
class Answers:
    """The shares of right answers: of all questions, by section, by kind (semantic, syntactic) and by frequency."""

    name: str
    method: Method
    among: int | None
    total: Share
    sections: dict[str, Share]
    kinds: dict[str, Share]
    bands: dict[str, Share]

    def as_dict(self) -> dict[str, Any]:
        about: dict[str, Any] = {"file": self.name, "method": self.method, "among": self.among}
        for name in ("sections", "kinds", "bands"):
            about[name] = {key: share.as_dict() for key, share in getattr(self, name).items()}
        return about | {"total": self.total.as_dict()}


def read(path: str | Path) -> Questions:
    """The questions of a file; lines before the first `: section` belong to one with the file's name."""
    path = Path(path)
    words: list[list[str]] = []
    sections: list[str] = []
    section = path.stem
    for number, line in enumerate(lines_of(path), 1):
        if line.startswith(":"):
            section = line[1:].strip() or f"line {number}"
        elif parts := line.split():
            if len(parts) != 4:
                raise UserError(
                    f"{path} line {number}: {len(parts)} words; a question has four, a section begins with :"
                )
            words.append(parts)
            sections.append(section)
    if not words:
        raise UserError(f"{path} holds no questions; allowed: lines of four words, under ': section' lines")
    return Questions(path.name, words, sections)


def is_questions(path: str | Path) -> bool:
    """Whether a file holds analogy questions, and not rated pairs."""
    first = next((line for line in lines_of(Path(path)) if line.strip() and not line.startswith("#")), "")
    return first.startswith(":") or (len(first.split()) == 4 and not re.search(r"\t|\d", first))


def lines_of(path: Path) -> list[str]:
    """The lines of a text file."""
    try:
        return path.read_text("utf-8-sig").split("\n")
    except FileNotFoundError:
        raise UserError(f"{path} is missing; give a file of questions or of rated pairs") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is no UTF-8 text: {error.reason} at byte {error.start}; convert it") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}; give a file") from None


def evaluate(vectors: WordVectors, questions: Questions, method: Method = "add", among: int | None = None) -> Answers:
    """Asks all questions at once."""
    check_method(method)
    most = len(vectors) if among is None else fits(Size, among, "among")
    rows = np.array([[_row(vectors, word, most) for word in words] for words in questions.words])
    covered = (rows >= 0).all(1)
    right = np.zeros(len(rows), bool)
    if covered.any():
        right[covered] = answers(vectors.unit[:most], rows[covered, :3], method) == rows[covered, 3]

    def share(chosen: np.ndarray) -> Share:
        return Share(int(chosen.sum()), int((chosen & covered).sum()), int((chosen & right).sum()))

    sections = np.array(questions.sections)
    syntactic, band = np.char.startswith(sections, "gram"), np.where(covered, bands(rows), -1)
    kinds = {"semantic": share(~syntactic), "syntactic": share(syntactic)}
    return Answers(
        questions.name,
        method,
        among,
        share(np.ones(len(rows), bool)),
        {name: share(sections == name) for name in dict.fromkeys(questions.sections)},
        {name: one for name, one in kinds.items() if one.asked},
        {name: share(band == number) for number, name in enumerate(NAMES) if (band == number).any()},
    )


def _row(vectors: WordVectors, word: str, most: int) -> int:
    """The row of a word among the first `most`, -1 for none."""
    row = vectors.row(word.lower() if vectors.lower else word)
    return -1 if row is None or row >= most else row
