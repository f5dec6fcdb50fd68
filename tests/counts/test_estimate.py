"""What the smoothings share, by hand: the texts "5 6 5" and "6 5", words 1 and 7 of 8 never seen."""

from __future__ import annotations

import numpy as np
import pytest

from foresay.counts.count import Grams, count
from foresay.counts.estimate import counts_of_counts, interpolated, single_words, with_rest, words_before
from foresay.text.tokens import MASK, PAD, START, STOP, UNK
from tests.counts.test_count import flat

V = 8
HALF = np.array([0.0, 0.5, 0.5, 0.5])
SINGLE = {5: 0.375, 6: 0.375, STOP: 0.175, UNK: 0.0375, 7: 0.0375}  # of words before: 2, 2 and 1 of 5, less a half each


def grams() -> list[Grams]:
    return count(flat([[5, 6, 5], [6, 5]]), 2, V)


def pairs(grams: list[Grams], values: np.ndarray) -> dict[tuple[int, int], float]:
    return dict(zip(zip(grams[1].context.tolist(), grams[1].word.tolist(), strict=True), values.tolist(), strict=True))


def test_words_before() -> None:
    single, double = words_before(grams())
    assert {word: times for word, times in enumerate(single.tolist()) if times} == {5: 2, 6: 2, STOP: 1}
    assert pairs(grams(), double) == {(START, 5): 1, (START, 6): 1, (5, 6): 1, (6, 5): 2, (5, STOP): 2}


def test_what_begins_a_text_keeps_its_count() -> None:
    double = words_before(count(flat([[5, 6], [5, 6], [6, 5, 6]]), 3, V))[1]
    found = pairs(count(flat([[5, 6], [5, 6], [6, 5, 6]]), 2, V), double)
    assert found[START, 5] == 2  # it stood there twice, and nothing stands before <start>
    assert found[5, 6] == 2  # after <start> twice and after 6: two kinds


def test_counts_of_counts() -> None:
    assert counts_of_counts(np.array([0, 1, 1, 2, 5, 3]), 3).tolist() == [2, 1, 1]
    assert counts_of_counts(np.zeros(0, np.int64), 2).tolist() == [0, 0]


def test_single_words() -> None:
    found = single_words(words_before(grams())[0], HALF)
    assert found.tolist() == pytest.approx([SINGLE.get(word, 0.0) for word in range(V)])


def test_single_words_by_kinds() -> None:
    """Three kinds of word in seven: 10 parts, of which 3 go to the three and one more."""
    found = single_words(grams()[0].count, np.zeros(4), kinds=True)
    assert found[[5, 6, STOP]].tolist() == pytest.approx([0.3 + 0.075, 0.2 + 0.075, 0.2 + 0.075])
    assert found[[UNK, 7]].tolist() == pytest.approx([0.0375, 0.0375])


def test_the_rest_goes_to_padding_where_every_word_was_seen() -> None:
    seen = np.ones(V, bool)
    seen[[PAD, START, MASK]] = False
    found = with_rest(np.where(seen, 0.1, 0.0), seen, 0.5)
    assert found[PAD] == pytest.approx(0.5 / 6) and found[START] == found[MASK] == 0.0
    assert found.sum() == pytest.approx(1.0)


def test_interpolated() -> None:
    every = [np.ones(len(order), bool) for order in grams()]
    found = interpolated(grams(), words_before(grams()), [HALF, HALF], every, False)
    assert pairs(grams(), found.probs[1]) == pytest.approx(
        {
            (START, 5): 0.5 / 2 + 0.5 * 0.375,
            (START, 6): 0.5 / 2 + 0.5 * 0.375,
            (5, 6): 0.5 / 3 + 0.375 / 3,
            (5, STOP): 1.5 / 3 + 0.175 / 3,
            (6, 5): 1.5 / 2 + 0.25 * 0.375,
        }
    )
    assert found.backs[1][[START, 5, 6, 7]].tolist() == pytest.approx([0.5, 1 / 3, 0.25, 1.0])
    assert found.discounts == [(0.5, 0.5, 0.5)] * 2


def test_what_is_not_kept_loses_all() -> None:
    keep = [np.ones(len(order), bool) for order in grams()]
    keep[1][list(pairs(grams(), keep[1])).index((START, 6))] = False
    found = interpolated(grams(), words_before(grams()), [HALF, HALF], keep, False)
    assert found.backs[1][START] == pytest.approx((0.5 + 1) / 2)
    assert pairs(grams(), found.probs[1])[START, 5] == pytest.approx(0.5 / 2 + 0.75 * 0.375)


def test_kinds_count_once_more() -> None:
    counts = [order.count for order in grams()]
    every = [np.ones(len(order), bool) for order in grams()]
    found = interpolated(grams(), counts, [np.zeros(4)] * 2, every, True)
    single = found.probs[0]
    assert pairs(grams(), found.probs[1])[5, STOP] == pytest.approx(2 / 5 + 2 / 5 * single[STOP])
    assert found.backs[1][[5, 6]].tolist() == pytest.approx([2 / 5, 1 / 3])
