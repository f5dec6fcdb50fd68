"""The claim `far-steps`: its rule, norms by another way, and a whole run of the smallest size."""

from __future__ import annotations

import pytest
import torch

from foresay.study.claims import far_steps, gradient_decay, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.far_steps import FAR, TRANSFORMER, Profiled, judge, norms_of
from foresay.study.claims.small_text import Size, Text, build
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    ("low", "high", "quick", "verdict"),
    [
        (0.01, 0.09, True, "holds"),
        (0.01, 0.11, False, "not decided at this size"),
        (0.11, 0.2, False, "does not hold"),
        (0.11, 0.2, True, "not decided at this size"),  # quick cannot refute
    ],
)
def test_the_rule(low, high, quick, verdict):
    ratios = {"RNN": Figure("", 0, 1e-9, 1e-8), "LSTM": Figure("", 0, low, high), TRANSFORMER: Figure("", 1, 1, 1)}
    assert judge(ratios, quick) == verdict


def test_far_over_near_by_hand():
    norms = [9.0, 4.0] + [1.0] * 15 + [0.5] * 8 + [1.5] * 8
    assert len(norms) == FAR + 1 and Profiled("", 1, 0.0, norms).ratio == pytest.approx(0.25)


def test_norms_are_those_of_the_steps_one_by_one():
    """The lab steps the cell by hand; here the encoder runs as it does."""
    draw = torch.randint(5, 9, (900,), generator=torch.Generator().manual_seed(1))
    text, model = Text(draw, draw, 9), build({"cell": "gru", "size": 6}, 1, 9)
    found = gradient_decay.norms_of(model, text, FAR, far_steps.PLACES)["x"]
    assert norms_of(model, text) == pytest.approx(found, rel=1e-5)


@pytest.mark.usefixtures("few_letters")
def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(far_steps, "QUICK", Size(2, rows=2, length=6, asked=4))
    monkeypatch.setattr(far_steps, "PLACES", 2)
    found = runner.run_claim("far-steps", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 9 and len(found["figures"]) == 6
    assert (tmp_path / "far-steps.png").stat().st_size > 10_000
