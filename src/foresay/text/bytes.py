"""Bytes: id = 5 + byte of the text's UTF-8; V = 261, nothing is unknown, every text comes back whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from foresay.parts import part
from foresay.text import saved
from foresay.text.byte_spelling import SPELLING, show
from foresay.text.normalise import Normalise
from foresay.text.tokens import SPECIALS, Tokens

_FIRST = len(SPECIALS)


@part("tokens", "bytes")
class Bytes(Tokens):
    """One token per byte of the UTF-8 text; nothing to learn, nothing unknown."""

    cuts = "anywhere"
    quick = True
    sample = 0

    def __init__(self, normalise: Normalise | str | None = None):
        super().__init__(normalise)

    def __len__(self) -> int:
        return _FIRST + 256

    def _learn(self, texts: Iterable[str]) -> None:
        """Does nothing: the vocabulary is fixed."""

    def _encode_many(self, texts: Sequence[str]) -> list[np.ndarray]:
        # A lone surrogate (a broken command-line argument) has no UTF-8: it becomes "?".
        contents = (np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8) for text in texts)
        return [content + np.uint32(_FIRST) for content in contents]

    def decode(self, ids: Iterable[int]) -> str:
        return bytes(i - _FIRST for i in map(int, ids) if i >= _FIRST).decode("utf-8", "replace")

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [SPECIALS[i] if i < _FIRST else show(bytes([i - _FIRST])) for i in map(int, ids)]

    def save(self, folder: Path) -> None:
        vocabulary = {piece: i for i, piece in enumerate([*SPECIALS, *SPELLING])}
        library = Tokenizer(models.BPE(vocabulary, []))
        library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        library.decoder = decoders.ByteLevel()
        saved.write(Path(folder), self, library)

    def load(self, folder: Path) -> None:
        saved.read(Path(folder), self)
