"""Temperatures against a search of another kind, and errors by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from foresay.train import calibrate
from foresay.train.calibrate import best_temperature
from foresay.train.classified import calibration_error


@pytest.mark.parametrize("several", [False, True])
def test_the_temperature_that_labels_were_drawn_with_is_found(several):
    """Labels are drawn from scores divided by 2.5; scipy's minimum of the loss is the same to six digits."""
    optimize = pytest.importorskip("scipy.optimize")
    random = torch.Generator().manual_seed(1)
    z = 4 * torch.randn(20_000, 3, dtype=torch.float64, generator=random)
    p = (z / 2.5).sigmoid() if several else (z / 2.5).softmax(1)
    draws = torch.rand(20_000, 3, dtype=torch.float64, generator=random)
    labels = (draws < p).double() if several else F.one_hot((draws[:, :1] > p.cumsum(1)).sum(1), 3).double()

    def loss(t: float) -> float:
        each = F.binary_cross_entropy_with_logits(z / t, labels) if several else F.cross_entropy(z / t, labels)
        return float(each)

    found = best_temperature(z, labels, several)
    assert found == pytest.approx(2.5, rel=0.05)
    assert found == pytest.approx(optimize.minimize_scalar(loss, bounds=(0.1, 10), options={"xatol": 1e-9}).x, rel=1e-5)


def test_where_all_is_right_or_wrong_nothing_is_fitted():
    """There the loss falls on and on as answers get surer, or less sure."""
    z = torch.tensor([[1.0, 0.0], [3.0, 1.0]], dtype=torch.float64)
    first, second = torch.tensor([[1.0, 0.0]] * 2), torch.tensor([[0.0, 1.0]] * 2)
    assert best_temperature(z, first) is best_temperature(z, second) is None
    assert best_temperature(z * torch.nan, second) is None


@pytest.mark.parametrize(
    ("truths", "told", "temperature"),
    [
        ([0, 0, 1], "not calibrated: all 3 validation texts are right", 1.0),
        ([0], "not calibrated: the only validation text is right", 1.0),
        ([1, 1, 0], "not calibrated: on the validation text the scores say nothing of the labels", 1.0),
        ([0, 1, 1], "calibrated on the validation text: scores are divided by 2.164", 1.5 / np.log(2)),
    ],
)
def test_what_is_told(monkeypatch, truths, told, temperature):
    """Of three margins of 1.5 two are right: at the best temperature each is believed 2 to 1."""
    z = torch.tensor([[1.5, 0.0], [1.5, 0.0], [0.0, 1.5]], dtype=torch.float64)[: len(truths)]
    monkeypatch.setattr(calibrate, "scores_of", lambda *_: (z, torch.tensor(truths), 3))
    model: Any = torch.nn.Module()
    model.register_buffer("temperature", torch.tensor(9.0))
    model.labels = SimpleNamespace(several=False)
    none: Any = None
    assert calibrate.calibrate(model, none, none) == told
    assert float(model.get_buffer("temperature")) == pytest.approx(temperature)


def test_calibration_error_by_hand():
    """In the bin of 0.9: three answers, two right; in that of 0.6: one, right; 1.0 belongs to the last bin."""
    p = np.array([[0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [0.6, 0.4], [1.0, 0.0]])
    gaps = abs(2 - 2.7) + abs(1 - 0.6) + abs(1 - 1.0)
    assert calibration_error(p, np.array([0, 1, 1, 0, 0])) == pytest.approx(gaps / 5)
    both = np.array([[0.9, 0.2]])  # 0.9 given and right, 0.8 not given and wrong
    assert calibration_error(both, np.array([[1.0, 1.0]])) == pytest.approx((0.1 + 0.8) / 2)


def test_of_a_model_that_diverged_it_is_no_number():
    assert np.isnan(calibration_error(np.full((3, 2), np.nan), np.array([0, 1, 1])))
