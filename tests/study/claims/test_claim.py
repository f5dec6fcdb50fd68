"""What a claim's figures say: intervals against tables, and the register."""

from __future__ import annotations

import math

import pytest

from foresay.errors import UserError
from foresay.study.claims import claim as register
from foresay.study.claims.claim import Figure, claim, claims, find, interval, mean_of


def test_interval_by_hand():
    """1 ... 5: mean 3, deviation sqrt 2.5, t = 2.776: 3 -+ 2.776 * sqrt(2.5 / 5) = 3 -+ 1.963."""
    assert interval([1, 2, 3, 4, 5]) == pytest.approx((3, 1.0371, 4.9629), abs=1e-3)
    assert interval([7.0, 7.0]) == (7, 7, 7)


def test_geometric_mean_and_its_interval():
    """1, 2, 4 are 0, 1, 2 powers of 2: mean 2, spread 4.303 / sqrt 3 = 2.4843 powers."""
    figure = mean_of("lag", [1, 2, 4], "steps")
    assert (figure.value, figure.low, figure.high) == pytest.approx((2, 2 / 2**2.4843, 2 * 2**2.4843), rel=1e-3)
    assert figure.spelt() == "2 steps  (95 % interval 0.357 – 11.2)"


def test_figures_in_words():
    assert Figure("a", 128.4, 100, 2345.6, "steps", at_least=True).spelt() == "≥ 128 steps  (95 % interval 100 – 2346)"
    assert Figure("a", math.inf, 3, None).spelt() == "∞  (95 % interval 3 – ∞)"


def test_every_claim_says_what_it_is():
    found = claims()
    assert "memory" in [one.name for one in found] and [one.name for one in found] == sorted(one.name for one in found)
    for one in found:
        assert one.lecture and one.sentence.endswith(".") and "holds when" in one.rule and callable(one.run)


def test_an_unknown_claim_is_refused():
    with pytest.raises(UserError, match=r"'memry' is no claim; allowed: .*memory.*did you mean.*memory"):
        find("memry")


def test_two_claims_of_one_name_are_refused(monkeypatch):
    monkeypatch.setattr(register, "_register", dict(register._register))
    with pytest.raises(AssertionError, match="two claims are called memory"):
        claim("memory", lecture="000", sentence="Other.", rule="holds when")(lambda quick, seed, tell: None)  # pyright: ignore
