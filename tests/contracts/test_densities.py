"""What every registered density keeps, in float64: it is one, what is not known counts nothing, draws follow it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from safetensors.torch import load, save

from foresay import parts
from tests.contracts.settings import described, label

B, T, D, H = 2, 5, 3, 7
EVERY = [{**one, "mixtures": mixtures} for one in described("density") for mixtures in (1, 4)]
every = pytest.mark.parametrize("recipe", EVERY, ids=label)


def build(recipe: dict[str, Any], width: int = D) -> Any:
    torch.manual_seed(1)
    made = parts.make("density", recipe)
    made.build(H, width)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return made.double()


def case() -> tuple[torch.Tensor, torch.Tensor]:
    """Features, and values that every density has."""
    torch.manual_seed(2)
    return torch.randn(B, T, H, dtype=torch.float64), torch.randint(2, (B, T, D)).double()


@every
def test_all_values_together_have_probability_one(recipe):
    density = build(recipe, width=1)
    features = case()[0][0, 0]
    if not density.scaled:  # of 0 and 1
        total = density.log_prob(features.expand(2, H), torch.tensor([[0.0], [1.0]]).double()).exp().sum()
    else:
        grid = torch.linspace(-60, 60, 240_001, dtype=torch.float64)
        total = torch.trapezoid(density.log_prob(features.expand(len(grid), H), grid[:, None]).exp(), grid)
    assert total.item() == pytest.approx(1.0, abs=1e-6)


@every
def test_what_is_not_known_counts_nothing(recipe):
    """Without its last number a step is worth what the sum, or integral, over that number is."""
    density = build(recipe, width=2)
    features, x = case()[0][0, 0], torch.tensor([1.0, torch.nan], dtype=torch.float64)
    values = torch.tensor([0.0, 1.0]).double() if not density.scaled else torch.linspace(-60, 60, 240_001).double()
    both = torch.stack([torch.ones_like(values), values], 1)
    found = density.log_prob(features.expand(len(values), H), both).exp()
    whole = found.sum() if not density.scaled else torch.trapezoid(found, values)
    assert density.log_prob(features, x).exp().item() == pytest.approx(whole.item(), rel=1e-6)
    assert density.log_prob(features, torch.full((2,), torch.nan).double()).item() == pytest.approx(0.0, abs=1e-12)


@every
def test_loss_is_the_mean_over_known_steps(recipe):
    density, (features, x) = build(recipe), case()
    mask = torch.arange(T) < torch.tensor([[3], [5]])
    x[1, 2], x[0, 1, 0] = torch.nan, torch.nan
    expected = -density.log_prob(features, x)[mask & ~x.isnan().all(-1)].mean()
    torch.testing.assert_close(density.loss(features, x, mask), expected)
    other = torch.where(mask[..., None], x, 1e6)
    torch.testing.assert_close(density.loss(features, other, mask), expected)


@every
def test_nothing_to_predict_is_no_loss(recipe):
    density, (features, x) = build(recipe), case()
    loss = density.loss(features.requires_grad_(), torch.full_like(x, torch.nan))
    loss.backward()
    assert loss == 0 and (features.grad == 0).all()


@every
def test_every_parameter_gets_gradient(recipe):
    density, (features, x) = build(recipe), case()
    density.loss(features, x).backward()
    assert all(p.grad is not None and bool((p.grad != 0).any()) for p in density.parameters())


@every
def test_samples_have_the_mean_and_the_probabilities(recipe):
    """Of 20,000 draws, within five standard errors: their mean, and that of another density over this one."""
    density, draws = build(recipe), 20_000
    features = case()[0][0, 0]
    many = features.expand(draws, H)
    drawn = density.sample(many, torch.Generator().manual_seed(4))
    error = drawn.std(0) / draws**0.5
    assert ((drawn.mean(0) - density.mean(features)).abs() < 5 * error + 1e-9).all()
    assert torch.equal(density.sample(many, torch.Generator().manual_seed(4)), drawn)
    near = features + 0.05 * torch.randn(H, generator=torch.Generator().manual_seed(5)).double()
    ratio = (density.log_prob(near.expand(draws, H), drawn) - density.log_prob(many, drawn)).exp()
    assert abs(ratio.mean() - 1) < 5 * ratio.std() / draws**0.5  # E_p[q / p] = 1 holds for draws from p alone


@every
def test_temperature_zero_is_one_value_and_less_is_nearer(recipe):
    density, features = build(recipe), case()[0][0, 0].expand(2000, H)
    u = torch.rand(2000, D + 1, generator=torch.Generator().manual_seed(6), dtype=torch.float64).clamp(1e-9, 1 - 1e-9)
    still = density.draw(features, u, 0.0)
    torch.testing.assert_close(still, still[:1].expand_as(still))
    far = [(density.draw(features, u, t) - still).abs().mean() for t in (0.05, 0.5, 1.0)]
    assert far[0] < far[1] < far[2]


@every
def test_loss_falls_when_trained(recipe):
    density, (features, x) = build(recipe), case()
    optimizer = torch.optim.Adam(density.parameters(), lr=0.1)
    losses = []
    for _ in range(150):
        optimizer.zero_grad()
        loss = density.loss(features, x)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 1


@every
def test_save_load_and_describe(recipe):
    density, (features, x) = build(recipe), case()
    other = parts.make("density", parts.describe(density))
    other.build(H, D)
    other.double().load_state_dict(load(save(density.state_dict())))
    assert torch.equal(other.log_prob(features, x), density.log_prob(features, x))
