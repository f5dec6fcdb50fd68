"""Chunk -> ids, remembered: how words and subwords are encoded fast.

A text is cut into chunks at places where no token can cross (white space). Chunks repeat: each is numbered when it is
first met, the new ones are encoded all at once (by the library: on all cores), and the ids of the whole text are
gathered by number. The ids are exactly those of each chunk alone. When too many are remembered the later half goes: a
frequent chunk is met early.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise

import numpy as np
from tokenizers import Encoding, Tokenizer

CHUNKS = 2**19  # remembered at most: about 90 MB
IDS = 2**23  # in all of them
_AT_ONCE = 2**14  # chunks; the library needs about 1 kB for each while it encodes
_LINES = 256  # chunks in one text for the library: fewer cost calls, more cost it memory and time

Encode = Callable[[list[str]], tuple[np.ndarray, np.ndarray]]  # chunks -> all their ids, how many each has


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
            self._forget(self.most // 2)
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
        for start in range(0, len(new), _AT_ONCE):
            ids, lengths = self.encode(new[start : start + _AT_ONCE])
            self.begins = np.concatenate([self.begins, len(self.ids) + np.cumsum(lengths) - lengths])
            self.lengths = np.concatenate([self.lengths, lengths])
            self.ids = np.concatenate([self.ids, ids])
        new.clear()

    def _forget(self, keep: int = 0) -> None:
        """All but the first `keep` chunks, or as many of these as have half the ids there is room for."""
        if keep:
            keep = int(np.searchsorted(self.begins[:keep] + self.lengths[:keep], IDS // 2, "right"))
        kept = {chunk: number for chunk, number in self.numbers.items() if number < keep} if keep else {}
        self.numbers = _Numbers(kept)
        self.begins = self.begins[:keep] if keep else np.empty(0, dtype=np.int64)  # of each chunk's ids in self.ids
        self.lengths = self.lengths[:keep] if keep else np.empty(0, dtype=np.int64)
        self.ids = self.ids[: self.lengths.sum()] if keep else np.empty(0, dtype=np.uint32)


class _Numbers(dict[str, int]):
    """chunk -> its number; one not met before gets the next number and is noted in `new`."""

    def __init__(self, known: dict[str, int]):
        super().__init__(known)
        self.new: list[str] = []

    def __missing__(self, chunk: str) -> int:
        self.new.append(chunk)
        number = self[chunk] = len(self)
        return number


def flat(found: Iterable[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """The ids of chunks one after the other, (n,) of uint32, and how many each has."""
    found = list(found)
    lengths = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
    return np.fromiter(chain.from_iterable(found), dtype=np.uint32, count=int(lengths.sum())), lengths


def by_library(library: Tokenizer) -> Encode:
    """The ids of chunks by a tokeniser of the library, without character offsets where it can leave them out."""
    batch = _batch(library)
    return lambda chunks: flat(encoding.ids for encoding in batch(list(map(whole, chunks)), add_special_tokens=False))


def by_library_in_lines(library: Tokenizer) -> Encode:
    """The same where a newline is a token of its own and stands in no other chunk: many chunks as lines of one text.

    What the library needs for each text it is given is two thirds of its time for chunks: 3.8 µs a chunk, not 10.3.
    """
    batch, (mark,) = _batch(library), library.encode("\n", add_special_tokens=False).ids

    def encode(chunks: list[str]) -> tuple[np.ndarray, np.ndarray]:
        newline = chunks.index("\n") if "\n" in chunks else None  # at most once, as all are different
        lines = [whole(chunk) for chunk in chunks if chunk != "\n"]
        texts = ["\n".join([*lines[i : i + _LINES], ""]) for i in range(0, len(lines), _LINES)]
        ids, _ = flat(encoding.ids for encoding in batch(texts, add_special_tokens=False))
        lengths = np.diff(np.flatnonzero(ids == mark), prepend=-1) - 1
        ids = ids[ids != mark]
        if newline is None:
            return ids, lengths
        return np.insert(ids, int(lengths[:newline].sum()), mark), np.insert(lengths, newline, 1)

    return encode


def _batch(library: Tokenizer) -> Callable[..., list[Encoding]]:
    return getattr(library, "encode_batch_fast", library.encode_batch)  # since 0.20.1


def whole(chunk: str) -> str:
    """A lone surrogate (a broken command-line argument) has no UTF-8: it becomes "?"."""
    return chunk.encode("utf-8", "replace").decode("utf-8")
