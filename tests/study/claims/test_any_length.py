"""The claim `any-length`: its rule, and a whole run of the smallest size."""

from __future__ import annotations

import pytest

from foresay.study import recall
from foresay.study.claims import any_length, runner
from foresay.study.claims.any_length import ASKED, judge
from foresay.study.claims.claim import Figure
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("known", "far", "quick", "verdict"),
    [
        ((97, 100), (96, 100), True, "holds"),
        ((97, 100), (90, 100), False, "not decided at this size"),
        ((97, 100), (20, 90), False, "does not hold"),
        ((97, 100), (20, 90), True, "not decided at this size"),  # quick cannot refute
        ((90, 100), (20, 90), False, "not decided at this size"),  # what was not learnt says nothing
    ],
)
def test_the_rule(known, far, quick, verdict):
    one = {"RNN": figure(97, 100), "LSTM": figure(*known)}
    assert judge(one, {"RNN": figure(10, 15), "LSTM": figure(*far)}, quick) == verdict


def test_a_whole_run(monkeypatch, tmp_path):
    tiny = recall.Size(parameters=200, longest=20, updates=2, rows=4, tested=16)
    monkeypatch.setattr(any_length, "QUICK", tiny)
    found = runner.run_claim("any-length", quick=True, out=tmp_path, watch=Watch())
    assert len(found["figures"]) == 6 and found["verdict"] == "not decided at this size"
    runs = found["details"]["runs"]
    assert len(runs) == 9 and all(set(one["accuracy"]) == set(ASKED) for one in runs)
    assert (tmp_path / "any-length.png").stat().st_size > 10_000
