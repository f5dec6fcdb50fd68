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
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from foresay.counts.count import Grams
from foresay.counts.estimate import Estimate
from foresay.counts.threads import in_parts
from foresay.text.tokens import START, STOP

if TYPE_CHECKING:
    from foresay.kernels.ngram.walk import Walk


@dataclass(frozen=True)
class Table:
    """What is read together lies together: an n-gram is one row of `grams`, a context one row of `contexts`.

    grams       word, log P (float32), after
    contexts    first (int64: two columns), shorter, back (float32)
    """

    orders: np.ndarray  # where each order begins, and the last one ends
    grams: np.ndarray  # int32
    contexts: np.ndarray  # int32; one row more than there are contexts, which says where the last children end
    flat: np.ndarray  # log P of a word that a context does not know, before `back`; empty where shorter ones say

    @property
    def word(self) -> np.ndarray:
        return self.grams[:, 0]

    @property
    def log_prob(self) -> np.ndarray:
        return self.grams.view(np.float32)[:, 1]

    @property
    def after(self) -> np.ndarray:
        return self.grams[:, 2]

    @property
    def first(self) -> np.ndarray:
        return self.contexts.view(np.int64)[:, 0]

    @property
    def shorter(self) -> np.ndarray:
        return self.contexts[:-1, 2]

    @property
    def back(self) -> np.ndarray:
        return self.contexts.view(np.float32)[:-1, 3]

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
        from foresay.kernels.ngram import walk as kernel  # numba takes a second to import

        found, after = np.zeros(ids.size), contexts.astype(np.int64)
        begins = np.arange(len(ids)) * ids.shape[1]
        given = (np.ravel(ids), begins, begins + lengths, after, found, self.walk)
        in_parts(lambda low, high: kernel.walk_rows(low, high, *given), len(ids))
        return found.reshape(ids.shape), after

    def rows(self, contexts: np.ndarray) -> np.ndarray:
        """log P of every word in each context (B, V)."""
        from foresay.kernels.ngram import walk as kernel  # numba takes a second to import

        found = np.empty((len(contexts), self.vocabulary), np.float32)
        in_parts(lambda low, high: kernel.fill_rows(low, high, contexts, found, self.walk), len(contexts))
        return found

    def what_is_wrong(self, vocabulary: int) -> str | None:
        """The array that does not fit the others, or a model of this vocabulary; walking it would leave the table."""
        orders = self.orders
        if orders[:3].tolist() != [0, 1, 1 + vocabulary] or (np.diff(orders) < 0).any():
            return "orders"
        grams, contexts = int(orders[-1]), int(orders[-2])
        if self.grams.shape != (grams, 3) or self.grams.dtype != np.int32:
            return "grams"
        if self.contexts.shape != (contexts + 1, 4) or self.contexts.dtype != np.int32:
            return "contexts"
        within = {
            "grams": self.word.min() >= 0 and self.word.max() < vocabulary and self.after.min() >= 0,
            "contexts": self.first[0] == 1 and self.first[-1] == grams and (np.diff(self.first) >= 0).all(),
            "flat": len(self.flat) <= 1,
        }
        within["grams"] &= self.after.max() < contexts
        within["contexts"] &= (self.shorter[1:] < np.arange(1, contexts)).all() and self.shorter.min() >= 0
        return next((name for name, fits in within.items() if not fits), None)

    @cached_property
    def walk(self) -> Walk:
        """The table as the loops that walk it read it."""
        from foresay.kernels.ngram import walk as kernel  # numba takes a second to import

        children = np.diff(self.first)
        many = int(children[children > kernel.FEW].sum())
        slots = np.full(1 << (3 * many // 2).bit_length(), -1, np.int32)
        kernel.fill_slots(self.grams, self.first, slots)
        grams, contexts = self.grams, self.contexts
        return kernel.Walk(
            grams=grams,
            logs=grams.view(np.float32),
            contexts=contexts,
            begins=contexts.view(np.int64),
            backs=contexts.view(np.float32),
            flat=self.flat,
            slots=slots,
        )


def build(grams: list[Grams], estimate: Estimate) -> Table:
    """The table of what was counted and estimated."""
    table = make_room([len(order) for order in grams], estimate.flat)
    with np.errstate(divide="ignore"):
        for n, order in enumerate(grams):
            children = order.children(len(grams[n - 1]) if n else 1)
            suffix = order.suffix + int(table.orders[n])
            fill(table, n + 1, order.word, np.log(estimate.probs[n]), suffix, children, np.log(estimate.backs[n]))
    return link(table)


def make_room(sizes: list[int], flat: float | None = None) -> Table:
    """A table for so many n-grams of each order, to be filled and linked."""
    orders = np.cumsum([0, 1, *sizes])
    grams, contexts = np.zeros((orders[-1], 3), np.int32), np.zeros((orders[-2] + 1, 4), np.int32)
    table = Table(orders, grams, contexts, np.array([] if flat is None else [math.log(flat)], np.float32))
    table.first[-1] = orders[-1]
    return table


def fill(
    table: Table,
    n: int,
    word: np.ndarray,
    log_prob: np.ndarray,
    suffix: np.ndarray | int,
    children: np.ndarray,
    back: np.ndarray,
) -> None:
    """Puts the n-grams of an order into a table, and what their contexts know.

    `suffix` says where the longest proper end of each stands that is one; `children` are counted within the order.
    """
    before, begin, end = table.orders[n - 1 : n + 2]
    table.word[begin:end], table.log_prob[begin:end] = word, log_prob
    table.after[begin:end] = suffix
    table.first[before:begin], table.back[before:begin] = children[:-1] + begin, back


def link(table: Table) -> Table:
    """The table, filled before, with its ways: `after` said only where the longest end of each n-gram stands."""
    from foresay.kernels.ngram import walk as kernel  # numba takes a second to import

    kernel.link(table.word, table.first, table.back, table.after, table.shorter, START, STOP)
    return table
