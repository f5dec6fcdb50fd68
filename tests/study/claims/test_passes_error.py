"""The claim `passes-error`: its rule, an additive cell worked out by hand, and a whole run of the smallest size."""

from __future__ import annotations

import pytest
import torch

from foresay.study.claims import passes_error, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.gradient_decay import norms_of
from foresay.study.claims.passes_error import ADDITIVE, Passed, judge
from foresay.study.claims.small_text import Size, Text, build
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("after", "other", "verdict"),
    [
        ((0.2, 90), (1e-90, 1e-50), "holds"),
        ((0.05, 90), (1e-90, 1e-50), "not decided at this size"),
        ((0.2, 90), (1e-90, 0.5), "not decided at this size"),
        ((0.01, 0.09), (1e-90, 1e-50), "does not hold"),
    ],
)
def test_the_rule(after, other, verdict):
    ratios = {(ADDITIVE, "before"): figure(1, 2), (ADDITIVE, "after"): figure(*after)}
    assert judge(ratios | {("RNN", "before"): figure(1e-9, 1e-8), ("RNN", "after"): figure(*other)}) == verdict


def test_without_a_matrix_error_passes_whole():
    """h' = h + tanh(x U): the gradient is the same at any distance."""
    turns = torch.arange(900) % 4 + 5
    model = build({"cell": "additive", "size": 6}, 1, 9)
    with torch.no_grad():
        model.encoder.get_parameter("forwards.0.weight_hh").zero_()
    found = norms_of(model, Text(turns, turns, 9), 40, 3)["0.h"]
    assert found == pytest.approx([found[0]] * 41, rel=1e-9)


def test_ratios():
    assert Passed("", 1, 0.0, [2.0, 9.0, 1.0], [4.0, 8.0]).ratio("before") == 0.5


@pytest.mark.usefixtures("few_letters")
def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(passes_error, "QUICK", Size(2, rows=2, length=6, asked=4))
    monkeypatch.setattr(passes_error, "FAR", 10)
    found = runner.run_claim("passes-error", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 9 and len(found["figures"]) == 6
    assert (tmp_path / "passes-error.png").stat().st_size > 10_000
