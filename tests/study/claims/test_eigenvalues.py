"""The claim `eigenvalues`: its rule, its matrices, and a whole run."""

from __future__ import annotations

import math

import pytest

from foresay.study.claims import eigenvalues, runner
from foresay.study.claims.eigenvalues import Measured, judge, others
from foresay.train.progress import Watch


def measured(eigenvalue: float, slope: float) -> Measured:
    return Measured("", 1, eigenvalue, slope, [])


def test_the_rule():
    right = [measured(1.1, math.log(1.1) + 9e-7), measured(-0.5, math.log(0.5))]
    assert judge(right) == "holds"
    assert judge([*right, measured(0.9, math.log(0.9) - 1.1e-6)]) == "does not hold"


def test_the_others_decide_nothing():
    assert others(5, 0.2) == pytest.approx([-0.2, -0.1, 0, 0.1, 0.2]) and max(map(abs, others(30))) == pytest.approx(
        0.3
    )


def test_a_wrong_power_would_be_noticed(monkeypatch):
    """Steps that shrink by a thousandth more than W says."""
    whole = eigenvalues.responses
    monkeypatch.setattr(eigenvalues, "responses", lambda weight, steps: whole(0.999 * weight, steps))
    assert judge(eigenvalues.measure(1)) == "does not hold"


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(eigenvalues, "SEEDS", 2)
    found = runner.run_claim("eigenvalues", quick=True, out=tmp_path, watch=Watch())
    values = {one["name"]: one["value"] for one in found["figures"]}
    assert found["verdict"] == "holds" and values["slope, λ₁ = 1.1, complex"] == pytest.approx(math.log(1.1), abs=1e-6)
    assert values["slope, λ₁ = 1, λ₂ = -0.7"] == pytest.approx(math.log(0.7), abs=1e-6)
    assert len(found["details"]["runs"]) == 18 and (tmp_path / "eigenvalues.png").stat().st_size > 10_000
