"""The claim `clipping`: its rule, cosines by hand, and a whole run of the smallest size."""

from __future__ import annotations

import pytest

from foresay.study.claims import clipping, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.clipping import NORM, PARTS, VALUE, Size, cosines_of, judge
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("by_norm", "value", "without", "clipped", "verdict"),
    [
        ([1.0, 1 - 9e-7], (0.5, 0.9), (60, 90), (0, 20), "holds"),
        ([1.0, 0.99], (0.5, 0.9), (60, 90), (0, 20), "does not hold"),
        ([1.0], (0.5, 1.0), (60, 90), (0, 20), "not decided at this size"),
        ([1.0], (0.5, 0.9), (10, 90), (0, 20), "not decided at this size"),
        ([1.0], (0.5, 0.9), (0, 20), (30, 60), "does not hold"),
    ],
)
def test_the_rule(by_norm, value, without, clipped, verdict):
    cosines = {NORM: figure(1, 1), VALUE: figure(*value), PARTS: figure(0.1, 0.2)}
    assert judge(by_norm, cosines, {"without": figure(*without), "clipped": figure(*clipped)}) == verdict


def test_cosines_of_a_first_gradient():
    found = cosines_of(1)
    assert found[NORM] == pytest.approx(1, abs=1e-6) and found[VALUE] < 0.999 > found[PARTS] and min(found.values()) > 0


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(clipping, "QUICK", Size(4, 5))
    found = runner.run_claim("clipping", quick=True, out=tmp_path, watch=Watch())
    assert {name: len(own) for name, own in found["details"]["runs"].items()} == {"without": 5, "clipped": 5}
    assert len(found["figures"]) == 5 and (tmp_path / "clipping.png").stat().st_size > 10_000
