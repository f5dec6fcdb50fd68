"""The claim `gradient-decay`: its rule, its lines, norms of what is carried, and a whole run of the smallest size."""

from __future__ import annotations

import math

import pytest
import torch

from foresay.study.claims import gradient_decay, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.gradient_decay import Profiled, carried, judge, norms_of
from foresay.study.claims.small_text import Size, Text, build
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("slope", "fit", "better", "verdict"),
    [
        ((-0.5, -0.3), (0.9, 0.95), (0.1, 0.2), "holds"),
        ((-0.5, 0.1), (0.9, 0.95), (0.1, 0.2), "not decided at this size"),
        ((-0.5, -0.3), (0.7, 0.95), (0.1, 0.2), "not decided at this size"),
        ((0.1, 0.2), (0.9, 0.95), (0.1, 0.2), "does not hold"),
        ((-0.5, -0.3), (0.9, 0.95), (-0.2, -0.1), "does not hold"),
        ((-0.5, -0.3), (0.9, 0.95), (-0.2, 0.1), "not decided at this size"),
    ],
)
def test_the_rule(slope, fit, better, verdict):
    good = {"RNN": figure(-1, -0.9), "LSTM": figure(-1, -0.9), "GRU": figure(*slope), "additive": figure(5, 6)}
    fits = {"RNN": figure(1, 1), "LSTM": figure(1, 1), "GRU": figure(*fit)}
    assert judge(good, fits, {"RNN": figure(1, 1), "LSTM": figure(1, 1), "GRU": figure(*better)}) == verdict


def test_lines_through_known_falls():
    both = Profiled("", 1, 0.0, [3 * d**-2.0 for d in range(1, 49)], [5 * math.exp(-0.3 * d) for d in range(1, 49)])
    assert both.exponential("after").slope == pytest.approx(-0.3) and both.exponential("after").r_squared > 1 - 1e-9
    assert both.power("before").slope == pytest.approx(-2) and both.power("before").r_squared > 1 - 1e-9
    assert both.exponential("before").r_squared < 0.9 > both.power("after").r_squared


def test_what_is_carried_is_all_states_together():
    assert carried({"x": [9.0, 9.0], "0.h": [7.0, 3.0], "0.c": [0.0, 4.0]}) == [5.0]


def test_norms_of_a_linear_network_are_powers():
    """h' = x U + h / 2: the gradient halves at each step back."""
    turns = torch.arange(400) % 4 + 5
    model = build({"cell": {"kind": "elman", "activation": "identity"}, "size": 8}, 1, 9)
    with torch.no_grad():
        model.encoder.forwards[0].weight_hh.copy_(torch.eye(8) / 2)
    found = norms_of(model, Text(turns, turns, 9), 12)["0.h"]
    assert [norm / found[0] for norm in found] == pytest.approx([0.5**d for d in range(13)], rel=1e-6)


@pytest.mark.usefixtures("few_letters")
def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(gradient_decay, "QUICK", Size(2, rows=2, length=6, asked=4))
    monkeypatch.setattr(gradient_decay, "PLACES", 2)
    monkeypatch.setattr(gradient_decay, "FAR", 8)
    found = runner.run_claim("gradient-decay", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 9 and len(found["figures"]) == 12
    assert (tmp_path / "gradient-decay.png").stat().st_size > 10_000
