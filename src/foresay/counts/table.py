"""The finished n-gram model: one flat table that is walked word by word, as it lies in a file.

    0          the empty context
    1 .. V     the words, in the order of their ids
    ...        2-grams, 3-grams, ..., each order sorted by context and word

Each n-gram has its log-probability and `after`, the context that it leaves: the longest end of it that something
follows. Each context has its children, `first[c]` to `first[c + 1]`, the log of what words are multiplied with that
are not among them, and `shorter`, the next shorter context. So a word costs one search among the children of a context,
and one more for each context that does not know it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numba import njit, prange

from foresay.counts.count import Grams
from foresay.counts.estimate import Estimate
from foresay.text.tokens import START, STOP


@dataclass(frozen=True)
class Table:
    """The arrays; `orders` says where each order begins and the last one ends."""

    orders: np.ndarray
    word: np.ndarray  # of each n-gram
    log_prob: np.ndarray
    after: np.ndarray
    first: np.ndarray  # of each context: an n-gram of less than the highest order
    back: np.ndarray
    shorter: np.ndarray
    flat: np.ndarray  # log P of a word that a context does not know, before `back`; empty where shorter ones say

    @property
    def vocabulary(self) -> int:
        return int(self.orders[2] - self.orders[1])

    @property
    def order(self) -> int:
        return len(self.orders) - 2

    @property
    def start(self) -> int:
        """The context at the start of a text."""
        return int(self.after[1 + START])

    def arrays(self) -> dict[str, np.ndarray]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def score(self, ids: np.ndarray, lengths: np.ndarray, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log P of rows of ids (B, T), each as long as it says, and the contexts after them; 0 past a row's end."""
        found, after = np.zeros(ids.shape), contexts.astype(np.int64)
        score_rows(ids, lengths, after, found, *self.walk())
        return found, after

    def rows(self, contexts: np.ndarray) -> np.ndarray:
        """log P of every word in each context (B, V)."""
        found = np.empty((len(contexts), self.vocabulary), np.float32)
        fill_rows(contexts, found, *self.walk())
        return found

    def what_is_wrong(self, vocabulary: int) -> str | None:
        """The array that does not fit the others, or a model of this vocabulary; walking it would leave the table."""
        orders = self.orders
        if orders[:3].tolist() != [0, 1, 1 + vocabulary] or (np.diff(orders) < 0).any():
            return "orders"
        grams, contexts = int(orders[-1]), int(orders[-2])
        lengths = {"word": grams, "log_prob": grams, "after": grams, "first": contexts + 1, "back": contexts}
        for name, length in (lengths | {"shorter": contexts}).items():
            if len(getattr(self, name)) != length:
                return name
        within = {
            "word": self.word.min() >= 0 and self.word.max() < vocabulary,
            "after": self.after.min() >= 0 and self.after.max() < max(contexts, 1),
            "first": self.first[0] == 1 and self.first[-1] == grams and (np.diff(self.first) >= 0).all(),
            "shorter": (self.shorter[1:] < np.arange(1, contexts)).all() and self.shorter.min(initial=0) >= 0,
            "flat": len(self.flat) <= 1,
        }
        return next((name for name, fits in within.items() if not fits), None)

    def walk(self) -> tuple[np.ndarray, ...]:
        """The arrays as the walking functions take them."""
        return self.word, self.log_prob, self.after, self.first, self.back, self.shorter, self.flat


def build(grams: list[Grams], estimate: Estimate) -> Table:
    """The table of what was counted and estimated."""
    orders = np.cumsum([0, 1, *(len(order) for order in grams)])
    contexts = int(orders[-2])  # all but the highest order
    with np.errstate(divide="ignore"):
        log_prob = np.log(np.concatenate([[1.0], *estimate.probs])).astype(np.float32)
        back = np.log(np.concatenate(estimate.backs)).astype(np.float32)
    word = np.concatenate([[0], *(order.word for order in grams)]).astype(np.int32)
    children = [order.children(len(grams[n - 1]) if n else 1) for n, order in enumerate(grams)]
    first = np.concatenate([each[:-1] + orders[n + 1] for n, each in enumerate(children)] + [orders[-1:]])
    suffix = np.concatenate([[0], *(order.suffix + orders[n] for n, order in enumerate(grams))])
    flat = np.array([] if estimate.flat is None else [math.log(estimate.flat)], np.float32)
    first, suffix = first.astype(np.int64), suffix.astype(np.int64)
    after, shorter = np.zeros(len(word), np.int32), np.zeros(contexts, np.int32)
    link(word, suffix, first, back, after, shorter)
    return Table(orders, word, log_prob, after, first, back, shorter, flat)


@njit(cache=True, nogil=True)
def link(
    word: np.ndarray,
    suffix: np.ndarray,
    first: np.ndarray,
    back: np.ndarray,
    after: np.ndarray,
    shorter: np.ndarray,
) -> None:
    """Fills `after` and `shorter`: a context that nothing follows and that changes nothing is passed over.

    A document ends with STOP, so what comes then is at its start.
    """
    start = 0
    for at in range(1, len(word)):
        place = after[suffix[at]]
        if at < len(back):
            shorter[at] = place
            if first[at + 1] > first[at] or back[at] != 0.0:
                place = at
        after[at] = place
        if at == 1 + START:
            start = place
    for at in range(1, len(word)):
        if word[at] == STOP:
            after[at] = start


@njit(cache=True, nogil=True, inline="always")
def _find(word: np.ndarray, low: int, high: int, wanted: int) -> int:
    """Where a word stands among the children of a context, -1 if it does not."""
    while low < high:
        middle = (low + high) >> 1
        if word[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def next_word(
    context: int,
    wanted: int,
    word: np.ndarray,
    log_prob: np.ndarray,
    after: np.ndarray,
    first: np.ndarray,
    back: np.ndarray,
    shorter: np.ndarray,
    flat: np.ndarray,
) -> tuple[float, int]:
    """log P of a word after a context, and the context that follows."""
    total, known = 0.0, False
    while context:
        end = first[context + 1]
        at = _find(word, first[context], end, wanted)
        if at < end and word[at] == wanted:
            return (total if known else total + log_prob[at]), after[at]
        if not known:
            total += back[context]
            if len(flat):  # the shorter contexts still say which one follows
                total += flat[0]
                known = True
        context = shorter[context]
    return (total if known else total + log_prob[1 + wanted]), after[1 + wanted]


@njit(cache=True, nogil=True, parallel=True)
def score_rows(
    ids: np.ndarray,
    lengths: np.ndarray,
    contexts: np.ndarray,
    found: np.ndarray,
    word: np.ndarray,
    log_prob: np.ndarray,
    after: np.ndarray,
    first: np.ndarray,
    back: np.ndarray,
    shorter: np.ndarray,
    flat: np.ndarray,
) -> None:
    for row in prange(len(ids)):
        context = contexts[row]
        for t in range(lengths[row]):
            found[row, t], context = next_word(context, ids[row, t], word, log_prob, after, first, back, shorter, flat)
        contexts[row] = context


@njit(cache=True, nogil=True, parallel=True)
def fill_rows(
    contexts: np.ndarray,
    found: np.ndarray,
    word: np.ndarray,
    log_prob: np.ndarray,
    after: np.ndarray,
    first: np.ndarray,
    back: np.ndarray,
    shorter: np.ndarray,
    flat: np.ndarray,
) -> None:
    for row in prange(len(contexts)):
        context = contexts[row]
        path = np.empty(64, np.int64)
        depth = 0
        while context:
            path[depth] = context
            depth += 1
            context = shorter[context] if len(flat) == 0 else 0
        if depth and len(flat):
            found[row] = flat[0]
        else:
            found[row] = log_prob[1 : 1 + found.shape[1]]
        for step in range(depth):
            context = path[depth - 1 - step]
            found[row] += back[context]
            for at in range(first[context], first[context + 1]):
                found[row, word[at]] = log_prob[at]
