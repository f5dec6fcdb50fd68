"""The claim `layer-norm`: its rule, the gradients, and a whole run of the smallest size."""

from __future__ import annotations

import math

import pytest
import torch

from foresay.study.claims import layer_norm, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.layer_norm import BOTH, KINDS, NEITHER, NORM, RESIDUAL, Measured, Size, build, judge, measure
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("both", "norm", "residual", "quick", "verdict"),
    [
        ((0.5, 0.9), (1.2, 2), (5, 9), True, "holds"),
        ((0.5, 1.1), (1.2, 2), (5, 9), False, "not decided at this size"),
        ((0.5, 0.9), (0.9, 2), (5, 9), False, "not decided at this size"),
        ((1.1, 1.3), (1.2, 2), (5, 9), False, "does not hold"),
        ((0.5, 0.9), (0.3, 0.8), (5, 9), False, "does not hold"),  # without residuals in range too
        ((0.5, 0.9), (1.2, 2), (0.1, 0.2), False, "does not hold"),
        ((0.5, 0.9), (1.2, 2), (0.1, 0.2), True, "not decided at this size"),  # quick cannot refute
    ],
)
def test_the_rule(both, norm, residual, quick, verdict):
    spreads = {BOTH: figure(*both), NORM: figure(*norm), RESIDUAL: figure(*residual), NEITHER: figure(5, 9)}
    assert judge(spreads, quick) == verdict


def test_spread_in_powers_of_ten():
    assert Measured("", 1, [1e-3, 1.0, 10.0], []).spread == pytest.approx(4)


@pytest.mark.parametrize("value", [math.inf, 1e300])
def test_what_is_too_large_counts_as_huge(value):
    assert layer_norm.bounded(torch.tensor(value, dtype=torch.float64)) == layer_norm.HUGE
    assert layer_norm.bounded(torch.zeros(())) == layer_norm.TINY


def test_what_is_no_number_is_no_measurement():
    with pytest.raises(ArithmeticError, match="is NaN"):
        layer_norm.bounded(torch.tensor(math.nan))


def test_gradients_through_values_of_any_size(monkeypatch):
    """Without norms, 48 layers: features of 10¹¹, where torch's fused attention on a CPU has wrong gradients."""
    found = measure(RESIDUAL, 10, Size(8))

    def plain(q, k, v, *, scale, **_):
        return (scale * q @ k.transpose(2, 3)).softmax(-1) @ v

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", plain)
    assert found.norms == pytest.approx(measure(RESIDUAL, 10, Size(8)).norms, rel=1e-6)
    assert found.spread == pytest.approx(13.8, abs=0.1)


def test_the_four_kinds_are_what_they_say():
    """With all weights of attention and dense layers at zero: residuals alone let x pass."""
    x = torch.randn(2, 5, layer_norm.WIDTH)
    for kind in KINDS:
        encoder = build(kind, 2)
        encoder.positions = torch.nn.Module()
        encoder.positions.forward = lambda position: torch.zeros(())
        encoder.positions.turns = lambda position: None
        with torch.no_grad():
            for dense in (one for one in encoder.modules() if isinstance(one, torch.nn.Linear)):
                dense.weight.zero_()
        y = encoder(x)[0]
        assert torch.equal(y, x if kind in (BOTH, RESIDUAL) else torch.zeros_like(x))
        norms = [one for one in encoder.modules() if isinstance(one, torch.nn.LayerNorm)]
        assert len(norms) == (4 if kind in (BOTH, NORM) else 0)


def test_gradients_are_those_of_a_small_change():
    """g of the lowest block against differences, in the direction of the gradient itself."""
    size = Size(2, layers=2)
    found = measure(BOTH, 3, size)
    torch.manual_seed(3)
    encoder = build(BOTH, 2).double()
    x, pull = (torch.randn(2, layer_norm.STEPS, layer_norm.WIDTH, dtype=torch.float64) for _ in range(2))
    x.requires_grad_()
    (grad,) = torch.autograd.grad(encoder(x)[0].mul(pull).mean(), x)
    step = 1e-5 * grad / grad.norm()
    change = (encoder(x + step)[0] - encoder(x - step)[0]).mul(pull).mean() / 2e-5
    assert found.norms[0] == pytest.approx(change.item(), rel=1e-5) and len(found.norms) == len(found.weights) == 2


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(layer_norm, "QUICK", Size(2, layers=8))
    monkeypatch.setattr(layer_norm, "SEEDS", 3)
    found = runner.run_claim("layer-norm", quick=True, out=tmp_path, watch=Watch())
    values = {one["name"]: one["value"] for one in found["figures"]}
    assert values["both: spread"] < 1 < values["neither: spread"]
    assert values["residual only: spread"] == pytest.approx(3.66, abs=0.05) and len(found["details"]["runs"]) == 12
    assert (tmp_path / "layer-norm.png").stat().st_size > 10_000
