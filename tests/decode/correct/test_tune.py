"""A noise model from pairs: counts, shares by EM, weight and caution."""

from __future__ import annotations

import pytest

from foresay.decode.correct.listed import Listed
from foresay.decode.correct.tune import SEEN, choose, count, explain, learn
from tests.decode.correct.test_noise import noise


def test_pairs_are_counted():
    tally = count([("axc", "abc"), ("abc", "abc"), ("bac", "abc"), ("abbc", "abc"), ("ac", "abc")])
    assert tally.mistaken == {"b": {"x": 1}} and tally.meant["a"] == 5
    assert (tally.swapped, tally.inserted, tally.deleted) == (1, 1, 1)


def test_learning_finds_the_shares():
    pairs = [("b", "a")] * 30 + [("d", "a")] * 10 + [("a", "a")] * 60
    made = learn(pairs, [Listed(["a,bc"])], "abcd")
    assert made.rates.wrong == pytest.approx(40.5 / 101) and not made.rates.edits
    shares = explain(made)
    # the most of 30 log(s/2 + (1-s)/4) + 10 log((1-s)/4) is at s = 1/2
    assert shares == pytest.approx({"listed": 0.5, "any": 0.5}, abs=1e-3)
    assert made.log_sub("a", "b") > made.log_sub("a", "d") > made.log_sub("a", "c")
    assert learn([("ba", "ab")] * SEEN, [], "ab").rates.swap > 0 == learn([("ba", "ab")], [], "ab").rates.swap


def test_weight_and_caution_are_chosen():
    made = noise()

    def correct(wrong, one):
        """Right at caution 2; too bold below, too shy above."""
        return {0.0: "c", 2.0: "a"}.get(one.caution, wrong)

    best, tried = choose(correct, made, [("b", "a")] * 4, most_alarms=0.1, weights=[1.0], cautions=[0.0, 2.0, 3.0])
    assert best.caution == 2.0 and [one["correction"]["f1"] for one in tried] == [0, 1, 0]
    best, _ = choose(lambda w, one: "c", made, [("b", "a")], weights=[1.0], cautions=[0.0, 1.0])
    assert best.caution == 0.0  # all alarm: the first


def test_two_edits_in_texts_of_equal_length_are_two():
    tally = count([("th cat sees the ddog.", "the cat sees the dog.")])
    assert (tally.mistaken, tally.inserted, tally.deleted, tally.swapped) == ({}, 1, 1, 0)
