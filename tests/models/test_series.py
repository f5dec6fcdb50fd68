"""The model of series against torch's own distributions in the units of the data, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Independent, MixtureSameFamily, Normal
from torch.nn.functional import softplus

from foresay import parts
from foresay.data.batch import Batch
from foresay.data.series_form import SeriesForm
from foresay.errors import UserError
from foresay.models.series import Series

MEANS, DEVIATIONS = (2.0, -100.0), (3.0, 40.0)
FORM = SeriesForm(("a", "b"), MEANS, DEVIATIONS, (-9.0, -300.0), (12.0, 1.0), (False, False), (0.1, 0.0))
BINARY = SeriesForm(("a", "b"), (0.5, 0.2), (0.5, 0.4), (0.0, 0.0), (1.0, 1.0), (True, True), (0.0, 0.0))


def build(form: SeriesForm = FORM, **settings: Any) -> Series:
    torch.manual_seed(1)
    encoder = {"kind": "window", "span": 2, "size": 7}
    made: Series = parts.make("task", {"kind": "series", "encoder": encoder, **settings})
    made.learn_form(form)
    made.build(5)
    return made.double().eval()


def drawn(form: SeriesForm = FORM) -> Tensor:
    draw = torch.Generator().manual_seed(3)
    z = torch.randn(2, 5, 2, generator=draw, dtype=torch.float64)
    return (z > 0).double() if form is BINARY else z * torch.tensor(DEVIATIONS) + torch.tensor(MEANS)


@pytest.mark.parametrize("relative", [False, True])
def test_gaussians_in_the_units_of_the_data(relative: bool) -> None:
    """p(x) = sum_k w_k N(x; mean + deviation mu_k, deviation sigma_k); relative: mu_k from the step before."""
    model, x = build(output={"kind": "gaussian", "mixtures": 3}, relative=relative), drawn()
    log_prob, _ = model.score(x)
    state = model.begin(2)
    means, deviations = torch.tensor(MEANS).double(), torch.tensor(DEVIATIONS).double()
    before = means.expand(2, 2)
    for t in range(5):
        weights, theta = model.output._mixture(state["features"])  # pyright: ignore[reportPrivateUsage]
        mu, sigma = theta[..., 0], softplus(theta[..., 1]) + 1e-3
        base = before[:, None] if relative else means
        own = Independent(Normal(base + mu * deviations, sigma * deviations), 1)
        expected = MixtureSameFamily(Categorical(logits=weights), own).log_prob(x[:, t])
        torch.testing.assert_close(log_prob[:, t], expected)
        before = x[:, t]
        _, state = model.step(x[:, t : t + 1], state)


def test_bernoullis_are_of_the_numbers_themselves() -> None:
    model, x = build(BINARY, output="bernoulli"), drawn(BINARY)
    log_prob, _ = model.score(x)
    batch = Batch(frames=torch.cat([torch.full((2, 1, 2), torch.nan).double(), x[:, :-1]], 1), targets=x)
    own = Independent(Bernoulli(model.expect(batch)), 1)
    torch.testing.assert_close(log_prob, own.log_prob(x))


def test_the_first_loss_is_that_of_the_shares() -> None:
    """A Bernoulli output begins at the shares of ones."""
    model = build(BINARY, output="bernoulli")
    with torch.no_grad():
        model.output.linear.weight.zero_()
    _, state = model.step(drawn(BINARY), model.begin(2))
    assert model.output.mean(state["features"])[0].tolist() == pytest.approx([0.5, 0.2])


def test_expected_is_the_mean_of_draws() -> None:
    model, x = build(output={"kind": "gaussian", "mixtures": 2}, relative=True), drawn()
    batch = Batch(frames=torch.cat([torch.full((2, 1, 2), torch.nan).double(), x[:, :-1]], 1), targets=x)
    _, state = model.step(x[:, :3], model.begin(2))
    number = 40_000
    many = model.reorder(state, torch.arange(2).repeat_interleave(number))
    u = torch.rand(2 * number, 3, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    values = model.draw(many, u.clamp(1e-9, 1 - 1e-9)).view(2, number, 2)
    error = values.std(1) / number**0.5
    assert ((values.mean(1) - model.expect(batch)[:, 3]).abs() < 5 * error).all()


def test_what_is_not_known_counts_nothing() -> None:
    model, x = build(), drawn()
    x[0, 2] = torch.nan
    x[1, 1, 0] = torch.nan
    log_prob, _ = model.score(x)
    assert log_prob[0, 2] == 0
    filled = x.clone()
    filled[1, 1, 0] = 1e6  # what stands there is not looked at as a target
    only = SeriesForm(("b",), MEANS[1:], DEVIATIONS[1:], (-300.0,), (1.0,), (False,), (0.0,))
    assert only.width == 1 and log_prob[1, 1] != model.score(filled)[0][1, 1]


@pytest.mark.parametrize("form", [FORM, BINARY])
def test_guessing_is_the_entropy_of_the_figures_alone(form: SeriesForm) -> None:
    model = build(form, output="gaussian" if form is FORM else "bernoulli")
    if form is FORM:
        entropies = Normal(torch.tensor(MEANS), torch.tensor(DEVIATIONS)).entropy()
    else:
        entropies = Bernoulli(torch.tensor(form.means)).entropy()
    assert model.guessing() == pytest.approx(float(entropies.sum()), rel=1e-6)


def test_learns_an_autoregression() -> None:
    """x_t = 0.8 x_(t-1) + e_t with e of deviation 0.5: the loss falls to its entropy, the mean to 0.8 x."""
    draw = np.random.default_rng(5)
    values = np.zeros(4000)
    for t in range(1, 4000):
        values[t] = 0.8 * values[t - 1] + 0.5 * draw.normal()
    x = torch.from_numpy(values)[None, :, None]
    deviation = float(values.std())
    form = SeriesForm(("a",), (0.0,), (deviation,), (-9.0,), (9.0,), (False,), (0.0,))
    model = build(form, encoder={"kind": "window", "span": 1, "size": 3, "activation": "identity"}).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    batch = Batch(frames=torch.cat([torch.full((1, 1, 1), torch.nan).double(), x[:, :-1]], 1), targets=x)
    for _ in range(300):
        optimizer.zero_grad()
        loss, _ = model.loss(batch)
        loss.backward()
        optimizer.step()
    assert loss.item() == pytest.approx(np.log(0.5) + 0.5 * np.log(2 * np.pi * np.e), abs=0.03)
    found = model.expect(batch)[0, 1:, 0].detach().numpy()
    assert np.polyfit(values[:-1], found, 1) == pytest.approx([0.8, 0], abs=0.05)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"embedding": "lookup"}, r"embedding=lookup reads symbols, and a series has numbers; set embedding=frames"),
        (
            {"encoder": {"kind": "recurrent", "bidirectional": True}},
            "encoder sees what comes after and would see the numbers it must predict",
        ),
        ({"output": "bernoulli", "relative": True}, "relative=true with output=bernoulli, whose values have no differ"),
    ],
)
def test_what_cannot_be_joined(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        build(**settings)


def test_values_without_a_probability() -> None:
    with pytest.raises(UserError, match=r"output=bernoulli is of 0 and 1, and column a has parts of numbers from -9"):
        build(FORM, output="bernoulli")
