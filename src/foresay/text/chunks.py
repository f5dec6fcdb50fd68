"""Chunk -> ids, remembered: how words and subwords are encoded fast.

A text is cut into chunks at places where no token can cross (white space). Chunks repeat: each is numbered when it is
first met, the new ones are encoded all at once (by the library: on all cores), and the ids of the whole text are
gathered by number. The ids are exactly those of each chunk alone. Measured per second of processor time on 16 MB of
English-like text, 8000 subwords: 7 MB the first time and 13 MB when the chunks are known, against 2.2 MB for the
library alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import chain, pairwise

import numpy as np
from tokenizers import Tokenizer

CHUNKS = 2**18  # remembered at most: about 60 MB
IDS = 2**22  # in all of them
_AT_ONCE = 2**14  # chunks; the library needs about 1 kB for each while it encodes

Encode = Callable[[list[str]], list[list[int]]]


class Chunks:
    """The ids of texts: `cut` gives the chunks of a text, `encode` the ids of each chunk."""

    def __init__(self, encode: Encode, cut: Callable[[str], list[str]], most: int = CHUNKS):
        self.encode, self.cut, self.most = encode, cut, most
        self.lock = threading.Lock()
        self._forget()

    def encode_many(self, texts: Sequence[str]) -> list[np.ndarray]:
        """The ids of each text, (T,) of uint32."""
        chunks: list[str] = []
        ends = [0]
        for text in texts:
            chunks += self.cut(text)
            ends.append(len(chunks))
        with self.lock:
            flat, token_ends = self._gather(chunks)
        bounds = token_ends[ends].tolist()
        return [flat[start:stop] for start, stop in pairwise(bounds)]

    def _gather(self, chunks: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """The ids of all chunks, and where the ids of each end, with a 0 before."""
        if len(self.numbers) > self.most or len(self.ids) > IDS:
            self._forget()
        try:
            number = np.fromiter(map(self.numbers.__getitem__, chunks), dtype=np.int64, count=len(chunks))
            self._learn_new()
        except BaseException:
            self._forget()  # some chunks have a number but no ids
            raise
        lengths = self.lengths[number]
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        where = np.repeat(self.begins[number] - ends[:-1], lengths) + np.arange(ends[-1])
        return self.ids[where], ends

    def _learn_new(self) -> None:
        new = self.numbers.new
        if not new:
            return
        found: list[list[int]] = []
        for start in range(0, len(new), _AT_ONCE):
            found += self.encode(new[start : start + _AT_ONCE])
        lengths = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
        ids = np.fromiter(chain.from_iterable(found), dtype=np.uint32, count=int(lengths.sum()))
        self.begins = np.concatenate([self.begins, len(self.ids) + np.cumsum(lengths) - lengths])
        self.lengths = np.concatenate([self.lengths, lengths])
        self.ids = np.concatenate([self.ids, ids])
        new.clear()

    def _forget(self) -> None:
        self.numbers = _Numbers()
        self.begins = np.empty(0, dtype=np.int64)  # of each chunk's ids in self.ids
        self.lengths = np.empty(0, dtype=np.int64)
        self.ids = np.empty(0, dtype=np.uint32)


class _Numbers(dict[str, int]):
    """chunk -> its number; one not met before gets the next number and is noted in `new`."""

    def __init__(self):
        super().__init__()
        self.new: list[str] = []

    def __missing__(self, chunk: str) -> int:
        self.new.append(chunk)
        number = self[chunk] = len(self)
        return number


def by_library(library: Tokenizer) -> Encode:
    """The ids of chunks by a tokeniser of the library, without character offsets where it can leave them out."""
    batch = getattr(library, "encode_batch_fast", library.encode_batch)  # since 0.20.1

    def encode(chunks: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in batch(list(map(whole, chunks)), add_special_tokens=False)]

    return encode


def whole(chunk: str) -> str:
    """A lone surrogate (a broken command-line argument) has no UTF-8: it becomes "?"."""
    return chunk.encode("utf-8", "replace").decode("utf-8")
