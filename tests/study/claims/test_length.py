"""The claim `length`: its rule, its slopes, and a whole run of the smallest size."""

from __future__ import annotations

import json

import pytest

from foresay.study.claims import length, runner, sentences
from foresay.study.claims.claim import Figure
from foresay.study.claims.length import Written, judge
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    "slope, divided, quick, verdict",
    [
        ((-5, -4), (-0.3, 0.1), True, "holds"),  # holds 0
        ((-5, -4), (0.1, 0.25), True, "holds"),  # a quarter of the other
        ((-5, -4), (0.1, 0.3), False, "not decided at this size"),
        ((-5, -4), (0.3, 0.4), False, "does not hold"),
        ((-5, -4), (-0.4, -0.3), False, "does not hold"),
        ((-5, -4), (-0.4, -0.3), True, "not decided at this size"),
        ((-5, 1), (-0.1, 0.1), False, "not decided at this size"),
        ((1, 2), (-0.1, 0.1), False, "does not hold"),
    ],
)
def test_the_rule(slope, divided, quick, verdict):
    whole = Figure("whole", -1.0, -1.1, -0.9)
    assert judge(Figure("slope", 0.0, *slope), whole, Figure("divided", 0.0, *divided), quick) == verdict


def test_slopes_by_hand():
    """log P = -2 L: in proportion; divided, all alike. log P = -L^2: divided, in proportion."""
    even, steep = Written(1, [1, 2, 3], [-2.0, -4, -6]), Written(1, [1, 2, 3], [-1.0, -4, -9])
    assert (even.slope(0.0), even.relative(0.0), even.slope(1.0)) == pytest.approx((-2, -1, 0))
    assert (steep.slope(1.0), steep.relative(1.0)) == pytest.approx((-1, -1))


def test_a_whole_run(monkeypatch, tmp_path, small_texts):
    monkeypatch.setattr(length, "QUICK", 40)
    monkeypatch.setattr(sentences, "built_in", small_texts)
    found = runner.run_claim("length", quick=True, out=tmp_path, watch=Watch())
    texts = json.loads((tmp_path / "length.json").read_text("utf-8"))["details"]["texts"]
    assert len(texts) == 3 and all(len(one["lengths"]) == len(one["log_probs"]) == 40 for one in texts)
    assert max(texts[0]["log_probs"]) < 0 < min(texts[0]["lengths"])
    assert found["figures"][0]["high"] < 0
    assert (tmp_path / "length.png").stat().st_size > 10_000
