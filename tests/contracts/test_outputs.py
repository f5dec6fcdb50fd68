"""What every registered output layer over a vocabulary keeps (contract 4): a distribution, exact, and its loss."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load, save
from torch import nn

from foresay import parts
from tests.contracts.settings import B, T, V, described, label

every = pytest.mark.parametrize("recipe", described("output"), ids=label)
H = 7


def build(recipe):
    torch.manual_seed(1)
    output = parts.make("output", recipe)
    output.build(H, V, nn.Parameter(torch.randn(V, 5)))
    with torch.no_grad():
        for parameter in output.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return output.double().eval()


def case():
    torch.manual_seed(2)
    return torch.randn(B, T, H, dtype=torch.float64), torch.randint(0, V, (B, T))


@every
def test_probabilities_sum_to_one(recipe):
    features, _ = case()
    log_probs = build(recipe).log_probs(features)
    assert log_probs.shape == (B, T, V)
    torch.testing.assert_close(log_probs.exp().sum(-1), torch.ones(B, T, dtype=torch.float64))


@every
def test_log_prob_is_picked_from_log_probs(recipe):
    output, (features, targets) = build(recipe), case()
    expected = output.log_probs(features).gather(-1, targets[..., None])[..., 0]
    torch.testing.assert_close(output.log_prob(features, targets), expected)
    assert output.log_prob(features[:, :0], targets[:, :0]).shape == (B, 0)


@every
def test_masked_positions_are_ignored(recipe):
    output, (features, targets) = build(recipe), case()
    mask = torch.arange(T) < torch.tensor([[3], [5]])
    torch.manual_seed(3)
    loss = output.loss(features, targets, mask)
    other = torch.where(mask[..., None], features, 9.0)
    torch.manual_seed(3)
    torch.testing.assert_close(output.loss(other, targets.where(mask, 0), mask), loss)


@every
def test_nothing_to_predict_is_no_loss(recipe):
    output, (features, targets) = build(recipe), case()
    loss = output.loss(features.requires_grad_(), targets, torch.zeros(B, T, dtype=torch.bool))
    loss.backward()
    assert loss == 0 and (features.grad == 0).all()


@every
def test_every_parameter_gets_gradient(recipe):
    output, (features, targets) = build(recipe), case()
    output.loss(features, targets).backward()
    silent = [n for n, p in output.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert not silent


@every
def test_loss_falls_when_trained(recipe):
    """One batch can be learnt by heart: the probability of the targets rises above one half."""
    output, (features, targets) = build(recipe), case()
    optimizer = torch.optim.Adam(output.parameters(), lr=0.1)
    for _ in range(150):
        optimizer.zero_grad()
        output.loss(features, targets).backward()
        optimizer.step()
    assert output.log_prob(features, targets).exp().mean() > 0.5


@every
def test_samples_follow_the_distribution(recipe):
    """Pearson's chi-square of 4,000 draws stays below 30: with 10 degrees of freedom, p < 0.001; the seed is fixed."""
    output, draws = build(recipe), 4000
    features = case()[0][0, 0]
    generator = torch.Generator().manual_seed(4)
    drawn = output.sample(features.expand(draws, H), generator)
    assert drawn.shape == (draws,)
    expected = draws * output.log_probs(features).exp()
    found = torch.bincount(drawn, minlength=V)
    assert ((found - expected) ** 2 / expected).sum() < 30
    again = output.sample(features.expand(draws, H), torch.Generator().manual_seed(4))
    assert torch.equal(again, drawn)
    assert output.sample(features, generator).shape == ()


@every
def test_save_load_and_describe(recipe):
    output, (features, _) = build(recipe), case()
    other = parts.make("output", parts.describe(output))
    other.build(H, V, output.weight if output.settings.get("tied") else None)
    other.double().eval().load_state_dict(load(save(output.state_dict())))
    assert torch.equal(other.log_probs(features), output.log_probs(features))
    assert parts.describe(other) == parts.describe(output)
