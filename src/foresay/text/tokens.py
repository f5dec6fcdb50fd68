"""What every tokeniser keeps: learn a vocabulary, text -> ids, ids -> text, saved as JSON.

Ids 0-4 are the same in every vocabulary: <pad> <unk> <start> <stop> <mask>. Text never gives one of the
control marks by accident: a literal "<stop>" in a text is spelt out like any other word (only words and blanks
read "<unk>" as the unknown word, as corpora such as PTB mean it).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

SPECIALS = ("<pad>", "<unk>", "<start>", "<stop>", "<mask>")
PAD, UNK, START, STOP, MASK = range(5)


class Tokens:
    """`learn(texts)` once, then `encode`, `encode_many`, `decode`; `save` and `load` keep it with the run."""

    part_kind = "tokens"
    cuts_anywhere = False  # True: a text may be cut between any two characters and its ids stay the same
    keeps_text = True  # False: decode gives the text back only up to spacing
    quick = False  # True: encoding is so fast that handing texts to other processes does not pay
    sample: int | None = None  # `learn` uses at most so many characters; a caller with more spreads them evenly

    def __len__(self) -> int:
        """V, the specials included."""
        raise AssertionError

    def learn(self, texts: Iterable[str]) -> None:
        """Builds the vocabulary from a stream of texts; memory does not grow with the stream."""
        raise AssertionError

    def encode(self, text: str) -> np.ndarray:
        """The ids of a text, (T,) of uint32, without <start> or <stop>."""
        raise AssertionError

    def encode_many(self, texts: Sequence[str]) -> list[np.ndarray]:
        """The ids of each text, on all cores."""
        return [self.encode(text) for text in texts]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; control marks are left out."""
        raise AssertionError

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """What each id stands for, to show a person: specials by name."""
        raise AssertionError

    def save(self, folder: Path) -> None:
        """Writes `tokenizer.json`, which the library `tokenizers` loads too."""
        raise AssertionError

    def load(self, folder: Path) -> None:
        """Reads what `save` wrote into this part."""
        raise AssertionError
