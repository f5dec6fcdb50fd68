"""The claim `explosion`: its rule, and a whole run of the smallest size."""

from __future__ import annotations

import pytest

from foresay.study import recall
from foresay.study.claims import explosion, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.explosion import EXPLOSIVE, TANH, Size, judge
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("without", "clipped", "tanh", "quick", "verdict"),
    [
        ((60, 99), (0, 30), (0, 40), True, "holds"),
        ((40, 99), (0, 30), (0, 40), False, "not decided at this size"),
        ((60, 99), (0, 55), (0, 40), False, "not decided at this size"),
        ((60, 99), (0, 30), (0, 60), False, "not decided at this size"),
        ((60, 99), (0, 30), (55, 90), False, "does not hold"),
        ((60, 99), (51, 70), (0, 40), False, "does not hold"),
        ((60, 99), (51, 70), (0, 40), True, "not decided at this size"),  # quick cannot refute
    ],
)
def test_the_rule(without, clipped, tanh, quick, verdict):
    exploding = {"without": figure(*without), "clipped": figure(*clipped)}
    assert judge(exploding, {TANH: figure(*tanh), EXPLOSIVE: figure(0, 10)}, quick) == verdict


def test_a_whole_run(monkeypatch, tmp_path):
    few = Size(3, 4, recall.Size(parameters=200, longest=30, updates=2, rows=4, tested=16))
    monkeypatch.setattr(explosion, "QUICK", few)
    found = runner.run_claim("explosion", quick=True, out=tmp_path, watch=Watch())
    values = {one["name"]: one["value"] for one in found["figures"]}
    assert values["recall 30 steps, clipped: tanh"] == 0 and len(values) == 4
    assert [len(own) for own in found["details"]["tried"].values()] == [3, 3]
    assert (tmp_path / "explosion.png").stat().st_size > 10_000
