"""The claim `shortcuts`: its rule, a linear shortcut worked out by hand, and a whole run of the smallest size."""

from __future__ import annotations

import pytest
import torch

from foresay.study.claims import gradient_decay, runner, shortcuts
from foresay.study.claims.claim import Figure
from foresay.study.claims.gradient_decay import norms_of
from foresay.study.claims.shortcuts import NONE, STRONGER, begin, judge
from foresay.study.claims.small_text import Size, Text, build
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    ("low", "high", "quick", "verdict"),
    [
        (0.1, 0.2, True, "holds"),
        (-0.1, 0.2, False, "not decided at this size"),
        (-0.2, -0.1, False, "does not hold"),
        (-0.2, -0.1, True, "not decided at this size"),  # quick cannot refute
    ],
)
def test_the_rule(low, high, quick, verdict):
    assert judge({1: Figure("", 1, 0.5, 1.5), 2: Figure("", 0, low, high)}, quick) == verdict


def test_a_shortcut_of_two_by_hand():
    """h_t = x U + a h_{t-1} + b h_{t-2}: what passes d steps back is g_d = a g_{d-1} + b g_{d-2}."""
    turns = torch.arange(400) % 4 + 5
    cell = {"kind": "shortcut", "cell": {"kind": "elman", "activation": "identity"}, "steps": 2}
    model = build({"cell": cell, "size": 6}, 1, 9)
    with torch.no_grad():
        model.encoder.get_parameter("forwards.0.cell.weight_hh").copy_(0.5 * torch.eye(6))
        model.encoder.get_parameter("forwards.0.weight_h_2").copy_(0.25 * torch.eye(6))
    found = norms_of(model, Text(turns, turns, 9), 10)["0.h"]
    expected = [1.0, 0.5]
    while len(expected) < 11:
        expected.append(0.5 * expected[-1] + 0.25 * expected[-2])
    assert [norm / found[0] for norm in found] == pytest.approx(expected, rel=1e-6)


def test_the_stronger_network_is_the_same_but_for_its_matrix():
    one, other = (begin(name, 3, 9).encoder.state_dict() for name in (NONE, STRONGER))
    for name in one:
        torch.testing.assert_close(other[name], one[name] * (2**0.5 if name.endswith("weight_hh") else 1))


@pytest.mark.usefixtures("few_letters")
def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(shortcuts, "QUICK", Size(2, rows=2, length=6, asked=4))
    monkeypatch.setattr(shortcuts, "FAR", 8)
    monkeypatch.setattr(gradient_decay, "PLACES", 2)
    found = runner.run_claim("shortcuts", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 15 and len(found["figures"]) == 10 + 12 + 5
    assert (tmp_path / "shortcuts.png").stat().st_size > 10_000
