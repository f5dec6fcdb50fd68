"""The claim `deep-skips`: its rule, what failing means, and a whole run of the smallest size."""

from __future__ import annotations

import math

import pytest
import torch

from foresay.study.claims import deep_skips, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.deep_skips import failed, judge, loss_of_frequencies
from foresay.study.claims.depth import Stack
from foresay.study.claims.small_text import Size, Text
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    ("low", "high", "quick", "verdict"),
    [
        (0.11, 0.3, True, "holds"),
        (0.09, 0.3, False, "not decided at this size"),
        (-0.1, 0.09, False, "does not hold"),
        (-0.1, 0.09, True, "not decided at this size"),  # quick cannot refute
    ],
)
def test_the_rule(low, high, quick, verdict):
    assert judge(Figure("", 0, low, high), quick) == verdict


def test_failing_by_hand():
    """Counts of 3, 1 and 2, each one more: 4, 2 and 3 of 9. One network is as good as frequencies, one better."""
    text = Text(torch.tensor([0, 0, 0, 1, 2, 2]), torch.tensor([0, 1]), 3)
    expected = -(math.log(4 / 9) + math.log(2 / 9)) / 2
    assert loss_of_frequencies(text) == pytest.approx(expected)
    found = [Stack(8, "none", seed, 1, 1, loss) for seed, loss in ((1, 0.96 * expected), (2, 0.9 * expected))]
    assert failed(found, 8, "none", {1: expected, 2: expected}).value == 50


@pytest.mark.usefixtures("few_letters")
def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(deep_skips, "QUICK", Size(1, rows=2, length=6, asked=4))
    found = runner.run_claim("deep-skips", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 12 and len(found["figures"]) == 8
    assert (tmp_path / "deep-skips.png").stat().st_size > 10_000
