"""Words and their rows while a file is read: the room grows with what was read, never with what was declared."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from foresay.errors import UserError
from foresay.vectors.opening import Source

BLANKS = re.compile("[ \t\n\r\v\f]")


class Gathered:
    """Words, each once, and a matrix with a row for each."""

    def __init__(self, source: Source, width: int):
        self.source, self.known = source, set[str]()
        self.words: list[str] = []
        self.rows = np.empty((0, width), np.float32)

    def add(self, words: Sequence[bytes], rows: np.ndarray, where: Callable[[int], str]) -> None:
        """Takes some more; `where` says for a row of these where in the file it stands."""
        for number, spelt in enumerate(words):
            try:
                word = spelt.decode("utf-8")
            except UnicodeDecodeError as error:
                raise self.source.wrong(where(number), f"the word {spelt!r} is no UTF-8 ({error.reason})") from None
            if word in self.known:
                raise self.source.wrong(where(number), f"the word {word!r} stands there twice")
            self.known.add(word)
            self.words.append(word)
        needed = len(self.words)
        if needed > len(self.rows):  # in place, so that it never takes twice the room
            self.rows.resize((max(needed, len(self.rows) * 3 // 2), self.rows.shape[1]), refcheck=False)
        self.rows[needed - len(words) : needed] = rows

    def matrix(self) -> np.ndarray:
        self.rows.resize((len(self.words), self.rows.shape[1]), refcheck=False)
        return self.rows


def check_words(words: Sequence[str], form: str) -> None:
    """Refuses words that a file cannot keep apart."""
    strange = next((word for word in words if not word or BLANKS.search(word)), None)
    if strange is not None:
        raise UserError(
            f"a {form} file cannot hold the word {strange!r}, which is empty or has blanks; save as .safetensors"
        )
