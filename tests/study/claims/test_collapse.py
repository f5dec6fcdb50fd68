"""The claim `collapse`: its rule, its measure, and a whole run of the smallest size."""

from __future__ import annotations

import json

import numpy as np
import pytest

from foresay.study.claims import collapse, runner
from foresay.study.claims.collapse import judge, mean_cosine
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    "without, drawn, quick, verdict",
    [
        ([0.995, 0.991], [0.2, 0.49], True, "holds"),
        ([0.995, 0.99], [0.2, 0.3], False, "not decided at this size"),  # one seed is not above
        ([0.98, 0.99], [0.2, 0.3], False, "does not hold"),
        ([0.98, 0.99], [0.2, 0.3], True, "not decided at this size"),  # more epochs could change it
        ([0.995, 0.991], [0.5, 0.6], False, "does not hold"),  # drawn words do not keep them apart
        ([0.995, 0.991], [0.4, 0.6], False, "not decided at this size"),
    ],
)
def test_the_rule(without, drawn, quick, verdict):
    assert judge(without, drawn, quick) == verdict


def test_the_mean_cosine_by_hand():
    """Cosines 0, 1/sqrt 2 and 1/sqrt 2, whatever the lengths."""
    assert mean_cosine(np.array([[3.0, 0], [0, 2], [5, 5]], np.float32)) == pytest.approx(2**0.5 / 3, rel=1e-6)
    assert mean_cosine(np.ones((4, 3), np.float32)) == pytest.approx(1, rel=1e-6)


def test_a_whole_run(monkeypatch, tmp_path, small_texts):
    monkeypatch.setattr(collapse, "QUICK", (1, 300))
    monkeypatch.setattr(collapse, "built_in", small_texts)
    runner.run_claim("collapse", quick=True, out=tmp_path, watch=Watch())
    runs = json.loads((tmp_path / "collapse.json").read_text("utf-8"))["details"]["runs"]
    early, without, drawn = (
        [one["cosine"] for one in runs if (one["negatives"], one["epochs"]) == kind]
        for kind in ((0, 1), (0, 300), (5, 300))
    )
    assert len(runs) == 2 * 2 * 3 and max(early) < 0.1 < min(drawn) < max(drawn) < 0.6 < 0.85 < min(without)
    assert (tmp_path / "collapse.png").stat().st_size > 10_000
