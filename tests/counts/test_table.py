"""The finished table: many rows walked in turn give what each gives alone, and what backing off by the book gives."""

from __future__ import annotations

import math

import numpy as np
import pytest

from foresay import parts
from foresay.counts.smoothing import Smoothing
from foresay.counts.table import Table
from foresay.counts.train import train
from foresay.text.tokens import START, STOP
from tests.counts.test_count import flat

V, ORDER = 60, 4


def text(seed: int, rows: int) -> list[list[int]]:
    """Words of very uneven frequency, so that some contexts have many children and most have few."""
    random = np.random.default_rng(seed)
    return [(5 + np.minimum(random.geometric(0.08, random.integers(0, 12)), V - 6)).tolist() for _ in range(rows)]


def made(name: str) -> Table:
    smoothing = parts.make("smoothing", name)
    assert isinstance(smoothing, Smoothing)
    return train(flat(text(1, 400)), V, ORDER, smoothing)[0]


class Book:
    """The same numbers by tuples of words."""

    def __init__(self, table: Table):
        spelt: list[tuple[int, ...]] = [()] * len(table.grams)
        for context in range(len(table.first) - 1):
            for child in range(table.first[context], table.first[context + 1]):
                spelt[child] = (*spelt[context], int(table.word[child]))
        self.log_prob = dict(zip(spelt, table.log_prob.tolist(), strict=True))
        self.back = dict(zip(spelt, table.back.tolist(), strict=False))

    def score(self, context: tuple[int, ...], word: int) -> float:
        if not context or (*context, word) in self.log_prob:
            return self.log_prob[(*context, word)]
        return self.back.get(context, 0.0) + self.score(context[1:], word)


@pytest.mark.parametrize("name", ["modified-kneser-ney", "katz", "stupid"])
def test_by_the_book(name: str) -> None:
    table, rows = made(name), text(2, 100)
    book = Book(table)
    ids = np.full((len(rows), 13), -1)
    for row, words in enumerate(rows):
        ids[row, : len(words) + 1] = [*words, STOP]
    found, after = table.score(ids, np.array([len(words) + 1 for words in rows]), np.full(len(rows), table.start))
    for row, words in enumerate(rows):
        every = (START, *words, STOP)
        expected = [book.score(every[max(0, at - ORDER + 1) : at], every[at]) for at in range(1, len(every))]
        np.testing.assert_allclose(found[row, : len(expected)], expected, rtol=1e-5)
        assert not found[row, len(expected) :].any() and after[row] == table.start


@pytest.mark.parametrize("name", ["modified-kneser-ney", "add", "none"])
def test_rows_walked_in_turn_do_not_meet(name: str) -> None:
    table, rows = made(name), text(3, 50)
    lengths = np.array([len(words) for words in rows])
    ids = np.zeros((len(rows), lengths.max()), np.int64)
    for row, words in enumerate(rows):
        ids[row, : len(words)] = words
    found, after = table.score(ids, lengths, np.full(len(rows), table.start))
    for row, words in enumerate(rows):
        at = np.array([table.start])
        for place, word in enumerate(words):
            one, at = table.score(np.array([[word]]), np.array([1]), at)
            assert found[row, place] == one[0, 0] or math.isnan(one[0, 0])
        assert at[0] == after[row]


def test_a_context_longer_than_a_sentence() -> None:
    """Every word of a row may be the start of a shorter context: none is forgotten, however many there are."""
    words = list(range(5, 85))
    smoothing = parts.make("smoothing", "witten-bell")
    assert isinstance(smoothing, Smoothing)
    table, _ = train(flat([words] * 2), 90, 81, smoothing)
    _, at = table.score(np.array([words]), np.array([80]), np.array([table.start]))
    rows = table.rows(at)
    assert np.exp(rows.astype(np.float64)).sum() == pytest.approx(1.0, abs=1e-5)
    assert rows[0].argmax() == STOP
