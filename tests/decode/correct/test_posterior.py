"""log pi = weight log P(X) + log P(observed | X), and the neighbours of X."""

from __future__ import annotations

import math

import pytest

from foresay.decode.correct.listed import Listed
from foresay.decode.correct.noise import Noise, Rates
from foresay.decode.correct.posterior import Posterior
from tests.decode.correct.conftest import log_p


def posterior(scorer, rates, observed="ab", **use):
    return Posterior(scorer, Noise([Listed(["a,b"])], rates, **use).build("abc"), observed)


def test_the_sum(scorer):
    made = posterior(scorer, Rates(0.2), weight=1.5)
    sub = 0.2 * (0.9 + 0.1 / 3)
    assert made.log(("b", "b")) == pytest.approx(1.5 * log_p("bb") + math.log(sub * 0.8), abs=1e-5)
    assert made.log(()) == made.log(("a", "b", "c")) == -math.inf


def test_neighbours_without_edits_are_substitutions(scorer):
    assert set(posterior(scorer, Rates(0.2)).neighbours(("a", "b"))) == {("b", "b"), ("a", "a")}


def test_neighbours_with_edits(scorer):
    found = posterior(scorer, Rates(0.2, 0.1, 0.1, 0.1)).neighbours(("a", "b"))
    assert {("b",), ("a",), ("b", "a"), ("a", "a", "b"), ("a", "b", "b")} <= set(found)
    assert ("a", "b") not in found and len(set(found)) == len(found)
    around, logs = posterior(scorer, Rates(0.2, 0.1, 0.1, 0.1)).around(("a", "b"))
    assert around == found and len(logs) == len(found)
