"""The claim `overfitting`: its rule, its gaps, and a whole run of the smallest size."""

from __future__ import annotations

from statistics import fmean

import pytest

from foresay.study.claims import overfitting, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.overfitting import Learnt, judge
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    "gap, relative, quick, verdict",
    [
        ((-2, -1), (-20, -10), True, "holds"),
        ((-2, -1), (-20, 10), False, "not decided at this size"),
        ((-2, -1), (10, 20), False, "not decided at this size"),  # the two do not agree
        ((1, 2), (10, 20), False, "does not hold"),
        ((1, 2), (10, 20), True, "not decided at this size"),
    ],
)
def test_the_rule(gap, relative, quick, verdict):
    assert judge(Figure("", 0, *gap), Figure("", 0, *relative), quick) == verdict


def test_gaps_by_hand():
    one = Learnt("CBOW", 8, 1, train=2.0, held_out=2.5)
    assert (one.gap, one.relative) == (0.5, 25)


def test_a_whole_run_learns_the_text_by_heart(monkeypatch, tmp_path, small_texts):
    monkeypatch.setattr(overfitting, "QUICK", (1, 600))
    monkeypatch.setattr(overfitting, "built_in", small_texts)
    found = runner.run_claim("overfitting", quick=True, out=tmp_path, watch=Watch())
    runs = [Learnt(**one) for one in found["details"]["runs"]]
    assert len(runs) == 2 * 2 * 3
    for name in ("skip-gram", "CBOW"):
        early, late = ([one.gap for one in runs if (one.predictor, one.epochs) == (name, many)] for many in (1, 600))
        assert abs(fmean(early)) < 0.05 < 0.15 < fmean(late)
    assert (tmp_path / "overfitting.png").stat().st_size > 10_000
