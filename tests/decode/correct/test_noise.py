"""P(observed | right) of a unit, by the formula."""

from __future__ import annotations

import math

import pytest

from foresay.decode.correct.listed import Listed
from foresay.decode.correct.noise import Counted, Noise, Rates
from foresay.errors import UserError

COUNTED = Counted({"a": {"b": 3, "d": 1}}, {"a": 96, "b": 10})


def noise(**given) -> Noise:
    return Noise([Listed(["a,bc"])], Rates(0.1), {"listed": 0.8, "any": 0.2}, COUNTED, 4.0, **given).build("abcd")


def test_the_formula():
    made = noise()
    wrong = (4 + 4 * 0.1) / (96 + 4)
    assert math.exp(made.log_sub("a", "a")) == pytest.approx(1 - wrong)
    assert math.exp(made.log_sub("a", "b")) == pytest.approx(wrong * (3 + 4 * (0.4 + 0.05)) / 8)
    assert math.exp(made.log_sub("a", "d")) == pytest.approx(wrong * (1 + 4 * 0.05) / 8)
    assert math.exp(made.log_sub("d", "a")) == pytest.approx(0.1 * 0.25)  # no set: all of it is `any`'s
    assert noise(caution=1.0).log_sub("a", "b") == pytest.approx(made.log_sub("a", "b") - 1)
    assert made.using(caution=1.0).log_sub("a", "b") == pytest.approx(made.log_sub("a", "b") - 1)


def test_candidates_are_what_sets_and_counts_join():
    assert list(noise().candidates("b")) == ["b", "a"]
    assert list(noise().candidates("d")) == ["d", "a"]  # by a count alone
    assert list(noise().candidates("e")) == ["e"]


@pytest.mark.parametrize("x", [*"abcd", "?"])
def test_it_sums_to_one(x):
    """Over the known units and all unknown ones as one, of which "?" and "!" are two."""
    made = noise()
    observed = [*"abcd", "?"] if x != "?" else [*"abcd", "?", "!"]
    assert math.fsum(math.exp(made.log_sub(x, o)) for o in observed) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("use", [{"caution": math.nan}, {"caution": -1000.0}, {"weight": math.nan}, {"weight": 0.0}])
def test_uses_that_make_no_sense(use):
    for make in (noise, noise().using):
        with pytest.raises(UserError, match=f"{next(iter(use))}=.*; allowed"):
            make(**use)
