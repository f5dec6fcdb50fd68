"""P(observed | X): by hand, summing to one, and spliced the same as whole."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.decode.correct.channel import Channel
from foresay.decode.correct.listed import Listed
from foresay.decode.correct.noise import Noise, Rates

ALL = Rates(wrong=0.1, insert=0.05, delete=0.07, swap=0.03)


def noise(rates: Rates) -> Noise:
    return Noise([Listed(["a,b"])], rates, {"listed": 0.8, "any": 0.2}).build("abc")


def test_without_edits_it_is_a_product():
    made = noise(Rates(wrong=0.1))
    assert Channel(made, "ab").log_prob("ab") == pytest.approx(2 * math.log(0.9))
    assert Channel(made, "bb").log_prob("ab") == pytest.approx(math.log(0.1 * (0.8 + 0.2 / 3)) + math.log(0.9))
    assert Channel(made, "ab").log_prob("a") == -math.inf


def test_edits_by_hand():
    insert, delete, swap, keep = 0.05, 0.07, 0.03, 0.9
    go, same = 1 - insert, 1 - delete - swap
    made = noise(ALL)
    # one unit, seen as it is: kept, or left out and put in before or after
    one = go * go * (same * keep + swap) + 2 * go * go * delete * insert / 4
    assert math.exp(Channel(made, "a").log_prob("a")) == pytest.approx(one)
    assert math.exp(Channel(made, "").log_prob("a")) == pytest.approx(go * go * delete)
    only_swap = noise(Rates(wrong=0.1, swap=0.03))
    mistaken = 0.1 * (0.8 + 0.2 / 3)
    two = 0.03 + 0.97 * mistaken * (0.97 * mistaken)
    assert math.exp(Channel(only_swap, "ba").log_prob("ab")) == pytest.approx(two)


@pytest.mark.parametrize("x", ["a", "ab", "cc"])
def test_all_that_may_be_observed_sums_to_one(x):
    made = noise(Rates(wrong=0.1, insert=0.001, delete=0.07, swap=0.03))
    # all unknown units count as one, "?"
    texts = ["".join(one) for length in range(len(x) + 4) for one in itertools.product("abc?", repeat=length)]
    total = math.fsum(math.exp(Channel(made, text).log_prob(x)) for text in texts)
    assert total == pytest.approx(1, abs=1e-5)
    assert total <= 1 + 1e-12


@pytest.mark.parametrize(
    "observed, right", [("abcacb", "abcabb"), ("abcab", "abcabb"), ("abbcab", "abcab"), ("abcba", "abcab")]
)
def test_every_kind_of_edit_costs_the_caution(observed, right):
    made = noise(Rates(1e-4, 1e-4, 1e-4, 1e-4))
    bold, shy, shyer = (Channel(made.using(caution=nats), observed).log_prob(right) for nats in (0.0, 3.0, 50.0))
    assert (bold - shy, bold - shyer) == pytest.approx((3, 50), abs=0.01)
    assert made.using(caution=-100.0).cautious.insert == 0.999


def test_bold_rates_stay_a_distribution():
    rates = Rates(0.1, 0.2, 0.3, 0.1).times(1e6)
    assert rates.wrong == rates.insert == 0.999 and rates.delete == pytest.approx(3 * rates.swap)
    assert rates.delete + rates.swap == pytest.approx(0.999)


def test_long_texts_do_not_underflow():
    made = noise(ALL)
    one = Channel(made, "c" * 20).log_prob("a" * 20)
    many = Channel(made, "c" * 500).log_prob("a" * 500)
    assert many == pytest.approx(25 * one, rel=0.05)
    x, variant = "a" * 500, "a" * 250 + "b" + "a" * 249
    channel = Channel(made, "c" * 500)
    assert channel.many(x, [variant])[0] == pytest.approx(channel.log_prob(variant), rel=1e-12)


@given(st.text("abc", min_size=1, max_size=4), st.text("abc", min_size=1, max_size=3), st.data())
def test_a_change_in_the_middle_needs_only_its_rows(observed, x, data):
    at = data.draw(st.integers(0, len(x)))
    end = data.draw(st.integers(at, min(at + 2, len(x))))
    variant = x[:at] + data.draw(st.text("abc", max_size=2)) + x[end:]
    channel = Channel(noise(ALL), observed)
    spliced = channel.many(x, [variant])[0]
    assert spliced == pytest.approx(channel.log_prob(variant), rel=1e-9)


@given(st.text("abc", min_size=1, max_size=5), st.data())
def test_products_are_the_same_from_anywhere(observed, data):
    same = st.text("abc", min_size=len(observed), max_size=len(observed))
    x, variant = data.draw(same), data.draw(same)
    channel = Channel(noise(Rates(wrong=0.1)), observed)
    assert channel.many(x, [variant])[0] == pytest.approx(channel.log_prob(variant))
