"""The claim `identity`: its rule, its beginnings, and a whole run of the smallest size."""

from __future__ import annotations

import pytest
import torch

from foresay.study import recall
from foresay.study.claims import identity, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.identity import BEGINNINGS, Searched, judge, longest
from foresay.train.progress import Watch


def figure(low: float, high: float, *, at_least: bool = False) -> Figure:
    return Figure("", (low + high) / 2, low, high, at_least=at_least)


@pytest.mark.parametrize(
    ("own", "uniform", "share", "quick", "verdict"),
    [
        (figure(30, 60), figure(8, 16), (0, 20), True, "holds"),
        (figure(30, 60), figure(8, 31), (0, 20), False, "not decided at this size"),
        (figure(64, 64, at_least=True), figure(8, 16, at_least=True), (0, 20), False, "not decided at this size"),
        (figure(4, 6), figure(8, 16), (0, 20), False, "does not hold"),
        (figure(4, 6), figure(8, 16), (0, 20), True, "not decided at this size"),  # quick cannot refute
        (figure(4, 64, at_least=True), figure(70, 90), (0, 20), False, "not decided at this size"),
        (figure(8, 16), figure(8, 16), (60, 90), False, "does not hold"),
    ],
)
def test_the_rule(own, uniform, share, quick, verdict):
    shares = {"identity": figure(*share), "uniform": figure(0, 30)}
    assert judge({"identity": own, "uniform": uniform}, shares, quick) == verdict


def test_beginnings_are_what_they_say():
    weights = {n: recall.build("elman", 400, 1, one).encoder.forwards[0].weight_hh for n, one in BEGINNINGS.items()}
    eye = torch.eye(len(weights["identity"]))
    assert torch.equal(weights["identity"], eye) and not torch.equal(weights["uniform"], eye)
    torch.testing.assert_close(weights["orthogonal"] @ weights["orthogonal"].T, eye, atol=1e-5, rtol=0)


def test_the_longest_lag():
    runs = [Searched("", "", seed, [recall.Tried(lag, 1, 1.0)]) for seed, lag in ((1, 16), (2, 64))]
    found = longest("", [*runs], 64)
    assert found.value == pytest.approx(32) and found.at_least and not longest("", runs, 128).at_least
    assert Searched("", "", 1, [recall.Tried(1, 1, 0.2)]).remembered == 0.5


def test_a_whole_run(monkeypatch, tmp_path):
    tiny = recall.Size(parameters=200, longest=4, updates=2, rows=4, tested=16)
    for name, value in (("QUICK", tiny), ("DESCENTS", 1), ("RUNS", 2)):
        monkeypatch.setattr(identity, name, value)
    found = runner.run_claim("identity", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 9 and len(found["figures"]) == 6
    assert (tmp_path / "identity.png").stat().st_size > 10_000
