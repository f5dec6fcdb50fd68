"""A noise model from pairs: counts, shares by EM, weight and caution."""

from __future__ import annotations

import math

import pytest

from foresay.decode.correct.listed import Listed
from foresay.decode.correct.noise import Rates
from foresay.decode.correct.tune import SEEN, choose, count, learn
from tests.decode.correct.test_noise import noise


def test_pairs_are_counted():
    tally = count([("axc", "abc"), ("abc", "abc"), ("bac", "abc"), ("abbc", "abc"), ("ac", "abc")])
    assert tally.mistaken == {"b": {"x": 1}} and tally.meant["a"] == 5
    assert (tally.swapped, tally.inserted, tally.deleted) == (1, 1, 1)


def test_learning_finds_the_shares():
    pairs = [("b", "a")] * 30 + [("d", "a")] * 10 + [("a", "a")] * 60
    made = learn(pairs, [Listed(["a,bc"])], "abcd", usual=Rates(0.01))
    assert made.rates.wrong == pytest.approx((40 + 10) / 1100) and not made.rates.edits

    def worth(s):
        """Of 30 mistakes in the set, 10 elsewhere, and the two that are shared out 9 to 1."""
        seen = 30 * math.log(s / 2 + (1 - s) / 4) + 10 * math.log((1 - s) / 4)
        return seen + 2 * (0.9 * math.log(s) + 0.1 * math.log(1 - s))

    best = max((n / 10_000 for n in range(1, 10_000)), key=worth)
    assert made.shares == pytest.approx({"listed": best, "any": 1 - best}, abs=1e-3)
    assert made.log_sub("a", "b") > made.log_sub("a", "d") > made.log_sub("a", "c")


def test_what_is_not_usual_takes_several():
    assert learn([("ba", "ab")] * SEEN, [], "ab").rates.swap > 0 == learn([("ba", "ab")], [], "ab").rates.swap


def test_few_pairs_change_rates_and_shares_little():
    usual = Rates(0.002, 0.001, 0.001, 0.001)
    few = learn([("teh", "the")], [Listed(["a,bc"])], "abceht", usual=usual)
    assert vars(few.rates) == pytest.approx(
        {"wrong": 2 / 1003, "insert": 1 / 1003, "delete": 1 / 1003, "swap": 2 / 1003}
    )
    assert few.shares == pytest.approx({"listed": 0.9, "any": 0.1})


def test_many_pairs_speak_for_themselves():
    """Thousands of pairs of thirty units, a mistake in each: a hundredth of the rates at most is the prior's."""
    pairs = [("b" + "a" * 29, "a" * 30)] * 3000
    usual = learn(pairs, [], "ab", usual=Rates(0.01)).rates
    assert usual.wrong == pytest.approx(1 / 30, rel=0.01) and not usual.edits


def test_weight_and_caution_are_chosen():
    made = noise()

    def correct(wrong, one):
        """Right at caution 2; too bold below, too shy above."""
        return {0.0: "c", 2.0: "a"}.get(one.caution, wrong)

    best, tried = choose(correct, made, [("b", "a")] * 4, most_alarms=0.1, weights=[1.0], cautions=[0.0, 2.0, 3.0])
    assert best.caution == 2.0 and [one["correction"]["f1"] for one in tried] == [0, 1, 0]
    best, _ = choose(lambda w, one: "c", made, [("b", "a")], weights=[1.0], cautions=[0.0, 1.0])
    assert best.caution == 1.0  # all alarm as often: the most careful
    best, _ = choose(lambda w, one: "a", made, [("b", "a")], weights=[0.8, 1.2], cautions=[2.0, 0.0])
    assert (best.weight, best.caution) == (0.8, 2.0)  # all are as good


def test_two_edits_in_texts_of_equal_length_are_two():
    tally = count([("th cat sees the ddog.", "the cat sees the dog.")])
    assert (tally.mistaken, tally.inserted, tally.deleted, tally.swapped) == ({}, 1, 1, 0)
