"""Every n-gram of a text up to an order, with how often it stands there, in bounded memory.

An n-gram is known by the number of its first n-1 words among the (n-1)-grams, and its last word:

    key = context * V + word            sorted, so that what follows a context lies together

so each order is one sort of one number for each token. A text that does not fit the limit is counted in blocks: each
block is sorted and kept aside, the blocks are merged, and then every token learns the number of its n-gram.

<start> stands before each document and STOP ends it; no n-gram reaches over a STOP.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from foresay.text.tokens import START, STOP

TOKEN_BYTES = 64  # that a token of a block takes while it is sorted
LIMIT = 1 << 30  # bytes


class Tokens(Protocol):
    """A text as ids: each document's, then STOP (data/shards.py)."""

    def __len__(self) -> int: ...
    def slice(self, start: int, stop: int) -> np.ndarray: ...


@dataclass(frozen=True)
class Flat:
    """Ids in memory as such a text."""

    ids: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    def slice(self, start: int, stop: int) -> np.ndarray:
        return self.ids[start:stop].astype(np.int64)


@dataclass(frozen=True)
class Grams:
    """The n-grams of one order, sorted by context and word; contexts and suffixes are numbers of (n-1)-grams."""

    context: np.ndarray
    word: np.ndarray
    suffix: np.ndarray  # its last n-1 words
    count: np.ndarray
    begins: np.ndarray  # whether <start> is its first word

    def __len__(self) -> int:
        return len(self.word)

    def children(self, contexts: int) -> np.ndarray:
        """Where the n-grams of each context begin, and at the end where the last ones end."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.context, minlength=contexts))])


def count(
    tokens: Tokens, order: int, vocabulary: int, limit: int = LIMIT, tell: Callable[[float], None] | None = None
) -> list[Grams]:
    """The n-grams of orders 1 to `order`; every word of the vocabulary is a 1-gram, be it seen or not."""
    blocks = _Blocks(tokens, max(limit // TOKEN_BYTES, 2))
    done = 0.0

    def told(share: float) -> None:
        nonlocal done
        done += share / order / len(blocks)
        if tell is not None:
            tell(min(done, 1.0))

    numbers = blocks.room(len(tokens), np.int32)
    counts = np.zeros(vocabulary, np.int64)
    for begin, end in blocks:
        ids = tokens.slice(begin, end)
        numbers[begin:end] = ids
        counts += np.bincount(ids, minlength=vocabulary)
        told(1.0)
    nothing = np.zeros(vocabulary, np.int32)
    words = np.arange(vocabulary, dtype=np.int32)
    grams = [Grams(nothing, words, nothing, counts, words == START)]
    for n in range(2, order + 1):
        grams.append(_next_order(blocks, n, vocabulary, numbers, grams[-1], told))
    return grams


def _next_order(
    blocks: _Blocks, n: int, vocabulary: int, numbers: np.ndarray, shorter: Grams, told: Callable[[float], None]
) -> Grams:
    """The n-grams, one word longer than `shorter`; `numbers` of each token's go from those to these."""
    from foresay.kernels.ngram import count as kernel  # numba takes a second to import

    runs, found = [], None
    before = 0  # the number that the token before a block has among the shorter n-grams
    for begin, end in blocks:
        found = kernel.sort_places(_block_keys(blocks, begin, end, n, vocabulary, numbers, before))
        before = int(numbers[end - 1]) if end else 0
        runs.append(tuple(blocks.keep(array) for array in kernel.count_equal(found[0])))
        told(0.5)
    keys, counts = _merged(blocks, runs)
    suffix = blocks.room(len(keys), np.int32)
    before = 0
    for begin, end in blocks:
        if found is None or len(blocks) > 1:
            found = kernel.sort_places(_block_keys(blocks, begin, end, n, vocabulary, numbers, before))
        before = int(numbers[end - 1]) if end else 0
        kernel.number_tokens(*found, keys, numbers[begin:end], suffix)
        told(0.5)
    context = blocks.keep((keys // vocabulary).astype(np.int32))
    word = blocks.keep((keys % vocabulary).astype(np.int32))
    return Grams(context, word, suffix, counts, shorter.begins[context])


def _block_keys(
    blocks: _Blocks, begin: int, end: int, n: int, vocabulary: int, numbers: np.ndarray, before: int
) -> np.ndarray:
    """The key of the n-gram that ends at each token of a block, -1 where its document has no n words yet."""
    from foresay.kernels.ngram import count as kernel  # numba takes a second to import

    ids = blocks.tokens.slice(begin, end)
    id_before = int(blocks.tokens.slice(begin - 1, begin)[0]) if begin else STOP
    return kernel.find_keys(ids, numbers[begin:end], id_before, before, n == 2, vocabulary, START, STOP)


class _Blocks:
    """The blocks of a text; one that has several keeps what it finds in files that nobody sees."""

    def __init__(self, tokens: Tokens, size: int):
        self.tokens, self.size = tokens, size

    def __len__(self) -> int:
        return max(-(-len(self.tokens) // self.size), 1)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for number in range(len(self)):
            yield number * self.size, min((number + 1) * self.size, len(self.tokens))

    def room(self, count: int, dtype: type) -> np.ndarray:
        if len(self) == 1 or count == 0:
            return np.empty(count, dtype)
        with tempfile.TemporaryFile() as file:  # its memory is the file's, which is gone when nobody uses it
            file.truncate(count * np.dtype(dtype).itemsize)
            return np.asarray(np.memmap(file, dtype, "r+", shape=(count,)))

    def keep(self, array: np.ndarray) -> np.ndarray:
        if len(self) == 1:
            return array
        kept = self.room(len(array), array.dtype.type)
        kept[:] = array
        return kept


def _merged(blocks: _Blocks, runs: list[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Sorted tables as one."""
    from foresay.kernels.ngram import count as kernel  # numba takes a second to import

    while len(runs) > 1:
        pairs, runs = runs, []
        for i in range(0, len(pairs) - 1, 2):
            (keys, counts), (more, more_counts) = pairs[i], pairs[i + 1]
            out, out_counts = (blocks.room(len(keys) + len(more), np.int64) for _ in range(2))
            length = kernel.merge(keys, counts, more, more_counts, out, out_counts)
            runs.append((out[:length], out_counts[:length]))
        runs += pairs[-1:] if len(pairs) % 2 else []
    keys, counts = runs[0]
    return keys, counts
