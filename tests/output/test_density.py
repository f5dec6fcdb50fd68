"""Densities against torch.distributions, from the same numbers."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch import distributions as d

from foresay.errors import UserError
from foresay.output.bernoulli import Bernoulli
from foresay.output.density import Density
from foresay.output.gaussian import Gaussian
from foresay.output.logistic import Logistic

H, D, K = 5, 3, 4


def built(density: Density) -> Density:
    torch.manual_seed(3)
    density.build(H, D)
    with torch.no_grad():
        density.linear.weight.normal_()
    return density.double()


def of_torch(density: Density, features: Tensor) -> d.Distribution:
    """The same distribution by torch, from what the linear map gives."""
    found = density.linear(features)
    weights, theta = found[..., : density.mixtures], found[..., density.mixtures :]
    theta = theta.view(*features.shape[:-1], density.mixtures, D, -1)
    if isinstance(density, Gaussian):
        each: d.Distribution = d.Normal(theta[..., 0], F.softplus(theta[..., 1]) + density.least)
    elif isinstance(density, Logistic):
        wide = F.softplus(theta[..., 1]) + density.least
        line = d.AffineTransform(theta[..., 0], wide)
        base = d.Uniform(torch.zeros_like(wide), torch.ones_like(wide))
        each = d.TransformedDistribution(base, [d.SigmoidTransform().inv, line])
    else:
        each = d.Bernoulli(logits=theta[..., 0], validate_args=False)
    return d.MixtureSameFamily(d.Categorical(logits=weights), d.Independent(each, 1), validate_args=False)


@pytest.mark.parametrize("kind", [Gaussian, Logistic, Bernoulli])
@pytest.mark.parametrize("mixtures", [1, K])
def test_log_prob_and_mean(kind: type[Density], mixtures: int) -> None:
    density = built(kind(mixtures=mixtures))  # pyright: ignore[reportCallIssue]
    features = torch.randn(2, 6, H, dtype=torch.float64)
    theirs = of_torch(density, features)
    x = (torch.rand(2, 6, D) < 0.5).double() if kind is Bernoulli else torch.randn(2, 6, D, dtype=torch.float64)
    torch.testing.assert_close(density.log_prob(features, x), theirs.log_prob(x))
    if kind is not Logistic:  # torch has no mean of a transformed distribution
        torch.testing.assert_close(density.mean(features), theirs.mean)


@pytest.mark.parametrize("kind", [Gaussian, Logistic])
def test_inverse_of_the_distribution_function(kind: type[Density]) -> None:
    """The mass below a drawn value, by torch, is the number it was drawn from; half of it lies below the middle."""
    density = built(kind(mixtures=1))  # pyright: ignore[reportCallIssue]
    features = torch.randn(7, H, dtype=torch.float64)
    u = torch.rand(7, D + 1, dtype=torch.float64)
    each = of_torch(density, features).component_distribution.base_dist  # pyright: ignore[reportAttributeAccessIssue]
    torch.testing.assert_close(each.cdf(density.draw(features, u)[:, None]).squeeze(1), u[:, 1:])
    middle = density.draw(features, torch.full((7, D + 1), 0.5).double())
    torch.testing.assert_close(middle, density.mean(features))


def test_the_component_is_chosen_by_the_first_number() -> None:
    density = built(Gaussian(mixtures=2))
    with torch.no_grad():
        density.linear.weight.zero_()
        density.linear.bias[:2] = torch.tensor([0.25, 0.75]).log()
        density.linear.bias[2:] = torch.tensor([[[-9.0, -9.0]] * D, [[9.0, -9.0]] * D]).flatten()
    u = torch.full((4, D + 1), 0.5).double()
    u[:, 0] = torch.tensor([0.0, 0.249, 0.251, 0.999])
    drawn = density.draw(torch.zeros(4, H).double(), u)
    assert drawn.sign()[:, 0].tolist() == [-1, -1, 1, 1]


def test_it_begins_with_deviation_one_and_mean_zero() -> None:
    for density in (Gaussian(), Logistic()):
        density.build(H, D)
        torch.nn.init.zeros_(density.linear.weight)
        drawn = density.sample(torch.zeros(50_000, H), torch.Generator().manual_seed(1))
        assert drawn.mean().abs() < 0.02 and abs(drawn.std() - 1) < 0.02


def test_bernoulli_takes_zeros_and_ones_alone() -> None:
    Bernoulli().check(0, 1, True, "a")
    with pytest.raises(UserError, match="0 and 1, and column a has numbers from 0 to 7; take output=gaussian"):
        Bernoulli().check(0, 7, True, "column a")
    with pytest.raises(UserError, match=r"parts of numbers from 0 to 0\.5"):
        Bernoulli().check(0, 0.5, False, "column a")
