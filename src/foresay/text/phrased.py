"""Texts -> ids with phrases as one word: chunk -> inner ids (remembered) -> phrases joined -> ids of the vocabulary."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from foresay.text.chunks import Chunks, flat
from foresay.text.joiner import END, NEWLINE, UNKNOWN, Joiner
from foresay.text.tokens import UNK

_CHUNK = re.compile(r"\n|\S+")  # phrases end at a newline, so that a text can be cut there
_END = np.array([END], np.int64)


class Phrased:
    """The ids of texts; `words_of` gives the words of a chunk, `ids` the vocabulary.

    A phrase that is not in the vocabulary, as one that is only a part of longer ones, is its words again.
    """

    def __init__(self, words_of: Callable[[str], list[str]], joiner: Joiner, ids: Mapping[str, int]):
        self.words_of, self.joiner = words_of, joiner
        self.final = np.array([ids.get(word, UNK) for word in joiner.words], np.uint32)
        spread = [joiner.spread(unit, ids) for unit in range(len(joiner.words))]
        self.lengths = np.array(list(map(len, spread)), np.int64)
        self.begins = np.cumsum(self.lengths) - self.lengths
        self.spread = np.array([word for words in spread for word in words], np.int64)
        self.chunks = Chunks(self._inner, _CHUNK.findall)

    def units(self, texts: Sequence[str]) -> np.ndarray:
        """The words and phrases of all texts as inner ids, END after each text."""
        found = self.chunks.encode_many(texts)
        return self.joiner.join(np.concatenate([part for ids in found for part in (ids.astype(np.int64), _END)]))

    def encode_many(self, texts: Sequence[str]) -> list[np.ndarray]:
        """The ids of each text, (T,) of uint32."""
        if not texts:
            return []
        units = self._known(self.units(texts))
        kept = units > NEWLINE
        ends = np.cumsum(kept, dtype=np.int64)[units == END]
        return np.split(self.final[units[kept]], ends[:-1])

    def shown(self, text: str, words: Sequence[str]) -> list[str]:
        """The words of a text, phrases joined; unknown words too."""
        units = self._known(self.units([text]))
        ends = np.cumsum([len(self.joiner.spread(unit)) for unit in units[units > NEWLINE].tolist()]).tolist()
        return ["_".join(words[start:stop]) for start, stop in zip([0, *ends], ends, strict=False)]

    def _known(self, units: np.ndarray) -> np.ndarray:
        lengths = self.lengths[units]
        ends = np.cumsum(lengths)
        return self.spread[np.repeat(self.begins[units] - ends + lengths, lengths) + np.arange(ends[-1])]

    def _inner(self, chunks: list[str]) -> tuple[np.ndarray, np.ndarray]:
        known = self.joiner.ids
        return flat([NEWLINE] if c == "\n" else [known.get(word, UNKNOWN) for word in self.words_of(c)] for c in chunks)
