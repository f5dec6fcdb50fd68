"""Every smoothing against the textbook's formulas on tuples, and by hand; all words together have one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from foresay import parts
from foresay.counts.smoothing import Smoothing, _stretches
from foresay.counts.table import Table
from foresay.counts.train import train
from foresay.errors import UserError
from foresay.text.tokens import PAD, START, STOP
from tests.counts.test_count import flat
from tests.counts.textbook import Textbook, counted, different_before, three, times

V = 13
NAMES = parts.names("smoothing")


def documents(seed: int = 1, many: int = 60) -> list[list[int]]:
    """Words of uneven frequency; the last word of the vocabulary never comes."""
    random = np.random.default_rng(seed)
    weights = 1 / np.arange(1, V - 5) ** 1.2
    weights /= weights.sum()
    return [(5 + random.choice(V - 6, random.integers(0, 9), p=weights)).tolist() for _ in range(many)]


def made(name: str, order: int, text: list[list[int]], **settings: object) -> Table:
    smoothing = parts.make("smoothing", {"kind": name, **settings})
    assert isinstance(smoothing, Smoothing)
    return train(flat(text), V, order, smoothing)[0]


def textbook(name: str, order: int, text: list[list[int]]) -> Textbook:
    raw = counted(text, order)
    counts = different_before(raw, order) if "kneser" in name else raw
    if name == "modified-kneser-ney":
        held = {n: three(counts, n) or [0.5, 1.0, 1.5] for n in range(1, order + 1)}
        return Textbook(counts, V, order, lambda n, c: held[n][min(c, 3) - 1])
    one = {}
    for n in range(1, order + 1):
        once, twice = times(counts, n, 1), times(counts, n, 2)
        one[n] = once / (once + 2 * twice) if once else 0.5
    return Textbook(counts, V, order, lambda n, c: one[n], kinds=name == "witten-bell")


CONTEXTS = [(), (START,), (5,), (START, 5), (5, 6), (6, 5), (5, 6, 7), (12, 12), (5, 12), (START, 5, 6, 5)]


def walked(table: Table, context: tuple[int, ...]) -> int:
    """The table's context after these words."""
    at = 0
    for word in context:
        at = int(table.score(np.array([[word]]), np.array([1]), np.array([at]))[1][0])
    return at


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["witten-bell", "absolute", "kneser-ney", "modified-kneser-ney"])
def test_the_textbook(name: str, order: int) -> None:
    text = documents()
    table, book = made(name, order, text), textbook(name, order, text)
    for context in CONTEXTS:
        rows = table.rows(np.array([walked(table, context)]))[0]
        expected = [book.prob(context, word) for word in range(V)]
        np.testing.assert_allclose(np.exp(rows), expected, rtol=2e-6, atol=1e-9)


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "stupid"])
def test_all_words_together_have_one_and_rows_are_scores(name: str, order: int) -> None:
    table = made(name, order, documents())
    for context in CONTEXTS:
        at = np.array([walked(table, context)])
        rows = table.rows(at)
        assert np.exp(rows.astype(np.float64)).sum() == pytest.approx(1.0, abs=1e-6)
        each = [table.score(np.array([[word]]), np.array([1]), at)[0][0, 0] for word in range(V)]
        np.testing.assert_allclose(rows[0], each, rtol=1e-5)


def test_katz_by_hand() -> None:
    """5 came after 6 twice, 7 once: with no discount known one count more stands for the rest."""
    table = made("katz", 2, [[6, 5], [6, 5], [6, 7]])
    single = np.exp(table.rows(np.array([0]))[0])
    after = np.exp(table.rows(np.array([walked(table, (6,))]))[0])
    assert after[5] == pytest.approx(2 / 4) and after[7] == pytest.approx(1 / 4)
    left = 1 / 4 / (1 - single[5] - single[7])
    assert after[8] == pytest.approx(left * single[8]) and after[6] == pytest.approx(left * single[6])


def test_good_and_turing_by_hand() -> None:
    """Ten things came once, four twice, one three times: 1* = 2 4/10, 2* = 3 1/4, less what counts above 2 keep."""
    from foresay.counts.smoothing import _good_turing

    counts = np.array([1] * 10 + [2] * 4 + [3] + [9])
    assert _good_turing(counts, 2).tolist() == pytest.approx([1.0, (0.8 - 0.3) / 0.7, (0.375 - 0.3) / 0.7, 1.0])
    assert _good_turing(counts, 3).tolist() == [1.0] * 5  # nothing came four times: too small to say


def test_nothing_taken_by_hand() -> None:
    """Without smoothing: shares of what followed; what did not is impossible; an unknown context gives way."""
    table = made("none", 3, [[5, 6, 7], [5, 6, 8], [5, 6, 8]])
    after = np.exp(table.rows(np.array([walked(table, (START, 5, 6))]))[0])
    assert after[7] == pytest.approx(1 / 3) and after[8] == pytest.approx(2 / 3) and after[5] == 0
    assert np.exp(table.rows(np.array([walked(table, (8, 6))]))[0])[8] == pytest.approx(2 / 3)
    found, _ = table.score(np.array([[5, 6, 5]]), np.array([3]), np.array([table.start]))
    assert found[0].tolist() == [0.0, 0.0, -math.inf]


def test_added_by_hand() -> None:
    table = made("add", 2, [[5, 6, 5, 6, 7], [6, 6]], k=0.5)
    found, _ = table.score(np.array([[5, 6, 7, 8, STOP]]), np.array([5]), np.array([table.start]))
    expected = [
        (1 + 0.5) / (2 + 6.5),  # <start> 5
        (2 + 0.5) / (2 + 6.5),  # 5 6
        (1 + 0.5) / (4 + 6.5),  # 6 7
        (0 + 0.5) / (1 + 6.5),  # 7 8, not seen
        (2 + 0.5) / (9 + 6.5),  # 8 was never seen: <stop> alone
    ]
    assert np.exp(found[0]).tolist() == pytest.approx(expected, rel=1e-6)


def test_stupid_by_hand() -> None:
    table = made("stupid", 3, [[5, 6, 7], [5, 6, 8], [5, 6, 8]])
    seen = np.exp(table.score(np.array([[5, 6, 5]]), np.array([3]), np.array([table.start]))[0][0])
    assert seen.tolist() == pytest.approx([1.0, 1.0, 0.4 * 0.4 * 3 / 12])


def test_a_text_too_small_for_three_discounts_says_so() -> None:
    smoothing = parts.make("smoothing", "modified-kneser-ney")
    assert isinstance(smoothing, Smoothing)
    _, notes = train(flat([[5, 6], [5, 7]]), V, 2, smoothing)
    assert len(notes) == 1 and "too few 1- to 2-grams" in notes[0]


def test_orders_are_said_in_stretches() -> None:
    assert list(_stretches([1, 3, 4, 5, 9])) == ["1-grams", "3- to 5-grams", "9-grams"]
    assert list(_stretches([])) == []


def test_an_order_longer_than_any_document() -> None:
    with pytest.raises(
        UserError, match=r"order 5, but no document has 5 words.*the longest has 4; use an order of at most 4"
    ):
        made("add", 5, [[5, 6], [7]])


def test_every_word_seen_leaves_the_last_share_to_padding() -> None:
    """As KenLM's unseen <unk>: a share that no word of the text has."""
    text = [[1, 5, 6, 7, 8, 9, 10, 11, 12]] * 2
    probs = np.exp(made("witten-bell", 1, text).rows(np.array([0]))[0])
    assert probs[PAD] == pytest.approx((10 / 30) / 11) and probs[START] == 0


def test_katz_of_a_text_whose_shares_sum_to_a_digit_more_than_one() -> None:
    table = made("katz", 1, [[10, 7, 6, 12, 6, 7, 10, 11, 10, 11, 5, 8]])
    assert not np.isnan(table.log_prob).any()
