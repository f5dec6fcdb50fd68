"""Characters: one token per Unicode code point, rare ones <unk>.

Text -> ids is one table look-up over UTF-32: no Python work per character.
Every text whose characters are in the vocabulary comes back whole; an unknown character comes back as U+FFFD.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from foresay.parts import Size, part
from foresay.text import saved
from foresay.text.codes import CODES, codes
from foresay.text.normalise import Normalise
from foresay.text.tokens import SPECIALS, UNK, Tokens

_UNKNOWN = 0xFFFD


@part("tokens", "characters")
class Characters(Tokens):
    """One token per character (Unicode code point); rare ones become <unk>."""

    cuts = "anywhere"
    quick = True

    def __init__(self, size: Size | None = None, min_count: Size = 1, normalise: Normalise | str | None = None):
        super().__init__(normalise)
        self._check_size(size)
        self.size, self.min_count = size, min_count
        self._use(np.empty(0, dtype=np.uint32))

    def __len__(self) -> int:
        return len(self.codes)

    def _learn(self, texts: Iterable[str]) -> None:
        counts = np.zeros(CODES, dtype=np.int64)
        for text in texts:
            seen = np.bincount(codes(text))
            counts[: len(seen)] += seen
        counts[0xD800:0xE000] = 0  # lone surrogates are no characters
        order = np.argsort(-counts, kind="stable")  # stable: ties by code point
        kept = order[: int((counts >= self.min_count).sum())]
        room = None if self.size is None else self.size - len(SPECIALS)
        self._use(kept[:room].astype(np.uint32))
        self._check_learnt(self.min_count)

    def _encode_many(self, texts: Sequence[str]) -> list[np.ndarray]:
        flat = self.ids[codes("".join(texts))]
        return np.split(flat, np.cumsum([len(text) for text in texts])[:-1]) if texts else []

    def decode(self, ids: Iterable[int]) -> str:
        given = np.asarray(ids if isinstance(ids, np.ndarray) else list(ids), dtype=np.int64)
        shown = given[(given >= len(SPECIALS)) | (given == UNK)]
        return self.codes[shown].astype("<u4").tobytes().decode("utf-32-le")

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [SPECIALS[i] if i < len(SPECIALS) else chr(self.codes[i]) for i in map(int, ids)]

    def save(self, folder: Path) -> None:
        vocabulary = {piece: i for i, piece in enumerate(self.pieces(range(len(self))))}
        library = Tokenizer(models.WordLevel(vocabulary, unk_token=SPECIALS[UNK]))
        library.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
        library.decoder = decoders.Fuse()
        saved.write(Path(folder), self, library)

    def load(self, folder: Path) -> None:
        vocabulary = saved.read(Path(folder), self).get_vocab(with_added_tokens=False)
        self._use(saved.code_points(Path(folder), vocabulary))

    def _use(self, codes: np.ndarray) -> None:
        """Takes the code points of ids 5, 6, ... as the vocabulary."""
        self.codes = np.concatenate([np.full(len(SPECIALS), _UNKNOWN, dtype=np.uint32), codes])
        self.ids = np.full(CODES, UNK, dtype=np.uint32)
        self.ids[codes] = np.arange(len(SPECIALS), len(self.codes), dtype=np.uint32)
