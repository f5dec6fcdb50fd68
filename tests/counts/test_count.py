"""Counting n-grams: against a dictionary of tuples, whole and in blocks whose edges fall anywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.counts.count import TOKEN_BYTES, Flat, Grams, count
from foresay.kernels.ngram.count import count_equal, merge, sort_places
from foresay.text.tokens import START, STOP
from tests.counts.textbook import counted

V = 9


def flat(documents: list[list[int]]) -> Flat:
    return Flat(np.array([word for document in documents for word in [*document, STOP]], np.int64))


def as_tuples(grams: list[Grams]) -> dict[tuple[int, ...], int]:
    """What the arrays say, spelt out; checks that contexts, suffixes and beginnings say the same."""
    spelt: list[list[tuple[int, ...]]] = [[(word,) for word in grams[0].word.tolist()]]
    for n, order in enumerate(grams[1:], 1):
        spelt.append([(*spelt[n - 1][c], w) for c, w in zip(order.context.tolist(), order.word.tolist(), strict=True)])
        assert [spelt[n - 1][s] for s in order.suffix.tolist()] == [gram[1:] for gram in spelt[n]]
        assert spelt[n] == sorted(spelt[n], key=lambda gram: (spelt[n - 1].index(gram[:-1]), gram[-1]))
    for order, names in zip(grams, spelt, strict=True):
        assert order.begins.tolist() == [gram[0] == START for gram in names]
    return {
        gram: count
        for order, names in zip(grams, spelt, strict=True)
        for gram, count in zip(names, order.count.tolist(), strict=True)
        if count
    }


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("block", [1, 2, 3, 7, 50, 10**6])
def test_against_a_dictionary(order: int, block: int) -> None:
    random = np.random.default_rng(block)
    documents = [random.integers(5, V, random.integers(0, 8)).tolist() for _ in range(25)]
    told: list[float] = []
    found = count(flat(documents), order, V, block * TOKEN_BYTES, told.append)
    assert as_tuples(found) == dict(counted(documents, order))
    assert told == sorted(told) and told[-1] == pytest.approx(1.0)


def test_no_text() -> None:
    found = count(Flat(np.zeros(0, np.int64)), 3, V)
    assert [len(order) for order in found] == [V, 0, 0] and not found[0].count.any()


def test_more_words_than_half_a_number_holds() -> None:
    """Keys are context * V + word: beyond 2^32 here."""
    many = 1 << 20
    documents = [[many - 1, many - 2, many - 1, many - 2]]
    assert len(as_tuples(count(flat(documents), 2, many))) == 3 + 4


@given(st.lists(st.integers(-1, 2**62), max_size=60))
def test_sorting_is_stable_and_leaves_out_what_is_negative(keys: list[int]) -> None:
    ordered, places = sort_places(np.array(keys, np.int64))
    expected = sorted((key, place) for place, key in enumerate(keys) if key >= 0)
    assert list(zip(ordered.tolist(), places.tolist(), strict=True)) == expected


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
def test_merged_tables_count_both(left: list[int], right: list[int]) -> None:
    tables = [count_equal(np.array(sorted(each), np.int64)) for each in (left, right)]
    out, counts = np.zeros((2, len(left) + len(right)), np.int64)
    length = merge(*tables[0], *tables[1], out, counts)
    every = sorted({*left, *right})
    assert out[:length].tolist() == every
    assert counts[:length].tolist() == [(left + right).count(key) for key in every]
