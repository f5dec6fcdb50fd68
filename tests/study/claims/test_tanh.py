"""The claim `tanh`: its rule, the best rates, states by hand, and a whole run of the smallest size."""

from __future__ import annotations

import pytest

from foresay.study.claims import runner, tanh
from foresay.study.claims.claim import Figure
from foresay.study.claims.small_text import Size
from foresay.study.claims.tanh import Learnt, at_best, gaps, judge, lengths
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("relu", "quick", "verdict"),
    [
        ((0.1, 0.2), True, "holds"),
        ((-0.1, 0.2), False, "not decided at this size"),
        ((-0.2, -0.1), False, "does not hold"),
        ((-0.2, -0.1), True, "not decided at this size"),  # quick cannot refute
    ],
)
def test_the_rule(relu, quick, verdict):
    assert judge({"relu": figure(*relu), "sigmoid": figure(1, 2), "identity": figure(0.3, 2)}, quick) == verdict


def test_each_has_the_rate_that_suits_it():
    found = [
        Learnt("relu", seed, rate, loss, 0)
        for seed, rate, loss in ((1, 0.1, 2), (2, 0.1, 4), (1, 0.2, 3.5), (2, 0.2, 3))
    ]
    found += [Learnt("tanh", seed, 0.1, 1.0, 0) for seed in (1, 2)]
    assert [one.loss for one in at_best(found, "relu")] == [2, 4]
    assert gaps({name: at_best(found, name) for name in ("relu", "tanh")}, "relu") == [1, 3]


def test_states_by_what_is_known():
    """Linear: 1.1 grows; tanh is odd, so - mirrors +; a sigmoid forgets the sign."""
    found = lengths(1)
    assert found["identity, λ = 1.1"]["length"][50] / found["identity, λ = 1.1"]["length"][40] == pytest.approx(1.1**10)
    both = found["tanh, λ = 1.1"]
    assert both["apart"][50] == pytest.approx(2 * both["length"][50])
    assert found["sigmoid, λ = 0.9"]["apart"][50] < 1e-12 and found["tanh, λ = 0.9"]["length"][50] < 0.01


@pytest.mark.usefixtures("few_letters")
def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(tanh, "QUICK", Size(2, rows=2, length=6, asked=4))
    found = runner.run_claim("tanh", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 24 and len(found["figures"]) == 8
    assert (tmp_path / "tanh.png").stat().st_size > 10_000
