"""What models of series keep with every causal encoder and every density: whole, in pieces or step by step, the same.

In float64, where equal is to 1e-9. Some numbers are not known.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from foresay import parts
from foresay.data.batch import Batch
from foresay.data.series_form import SeriesForm
from foresay.encode.encoder import flatten_state
from foresay.models.series import Series
from tests.contracts.settings import described, label

B, T, D = 3, 7, 2
FORM = SeriesForm(
    columns=("a", "b"),
    means=(2.0, -1.0),
    deviations=(3.0, 0.5),
    least=(-9.0, -3.0),
    most=(12.0, 1.0),
    whole=(False, False),
    unknown=(0.1, 0.0),
)
ZERO_ONE = SeriesForm(("a", "b"), (0.5, 0.2), (0.5, 0.4), (0.0, 0.0), (1.0, 1.0), (True, True), (0.0, 0.0))
ENCODERS = [one for one in described("encoder") if parts.make("encoder", one).causal]
CASES: list[dict[str, Any]] = [{"kind": "series", "encoder": encoder} for encoder in ENCODERS]
CASES += [
    {"kind": "series", "encoder": {"kind": "recurrent", "size": 7}, "output": {**one, "mixtures": 3}, **more}
    for one in described("density")
    for more in ({}, {"relative": True}, {"embedding": {"kind": "frames", "size": 5}})
    if not (more.get("relative") and one["kind"] == "bernoulli")
]
every = pytest.mark.parametrize(
    "recipe", CASES, ids=[label({k: v for k, v in one.items() if k != "kind"}) for one in CASES]
)


def build(recipe: dict[str, Any]) -> Series:
    torch.manual_seed(1)
    made: Series = parts.make("task", recipe)
    made.learn_form(ZERO_ONE if made.output.part_name == "bernoulli" else FORM)
    made.build(5)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return made.double().eval()


def values(model: Series) -> Tensor:
    torch.manual_seed(2)
    if not model.output.scaled:
        return torch.randint(2, (B, T, D)).double()
    found = torch.randn(B, T, D, dtype=torch.float64) * 2
    found[0, 2, 1], found[1, 4] = torch.nan, torch.nan
    return found


def same(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


@every
def test_whole_equals_pieces_equals_steps(recipe):
    model = build(recipe)
    x = values(model)
    whole, _ = model.score(x)
    for sizes in ([3, 4], [1, 5, 1], [1] * T):
        found, state = [], model.begin(B)
        for piece in x.split(sizes, 1):
            log_prob, state = model.score(piece, state=state)
            found.append(log_prob)
        same(torch.cat(found, 1), whole)


@every
def test_what_training_measures_is_the_score(recipe):
    """Of a batch, each step read one place later, and its mean is the loss."""
    model = build(recipe)
    x = values(model)
    frames = torch.cat([torch.full((B, 1, D), torch.nan).double(), x[:, :-1]], 1)
    batch = Batch(frames=frames, targets=x)
    measured, _ = model.measure(batch)
    same(measured, model.score(x)[0])
    known = (~x.isnan()).any(-1)
    same(model.loss(batch)[0], -measured[known].mean())


@every
def test_padding_and_company_change_nothing(recipe):
    model = build(recipe)
    x = values(model)
    mask = torch.arange(T) < torch.tensor([[4], [T], [2]])
    padded = torch.where(mask[..., None], x, 9.0)
    found, after = model.score(padded, mask)
    for row, size in enumerate((4, T, 2)):
        alone, state = model.score(x[row : row + 1, :size])
        same(found[row, :size], alone[0])
        assert not found[row, size:].any()
        same(model.score(x[:1], state=state)[0], model.score(x[:1], state=model.reorder(after, torch.tensor([row])))[0])


@every
def test_the_future_changes_nothing(recipe):
    model = build(recipe)
    x = values(model)
    other = x.clone()
    other[:, 4:] = 1 - other[:, 4:]
    same(model.score(x)[0][:, :4], model.score(other)[0][:, :4])


@every
def test_branches_go_their_own_ways(recipe):
    model = build(recipe)
    x = values(model)
    _, state = model.step(x[:, :3], model.begin(B))
    assert all(len(tensor) == B for tensor in flatten_state(state).values())
    rows = torch.tensor([2, 0, 0, 1])
    branched = model.reorder(state, rows)
    found, _ = model.score(x[rows, 3:], state=branched)
    same(found, model.score(x)[0][rows, 3:])


@every
def test_every_parameter_gets_gradient(recipe):
    model = build(recipe)
    model.train()
    x = values(model)
    frames = torch.cat([torch.full((B, 1, D), torch.nan).double(), x[:, :-1]], 1)
    model.loss(Batch(frames=frames, targets=x))[0].backward()
    # what keys add to all scores alike changes nothing (attention's); a learnt position may not be reached
    silent = [n for n, p in model.named_parameters() if p.grad is None]
    assert not silent
    assert any(p.grad.abs().sum() > 0 for p in model.output.parameters() if p.grad is not None)


@every
def test_draws_are_of_the_distribution(recipe):
    """What is drawn by the middle of a single component is its mean, and draws are values of the series."""
    model = build(recipe)
    _, state = model.step(values(model), model.begin(B))
    u = torch.full((B, D + 1), 0.5, dtype=torch.float64)
    drawn = model.draw(state, u)
    assert drawn.shape == (B, D) and bool(drawn.isfinite().all())
    if not model.output.scaled:
        assert set(drawn.unique().tolist()) <= {0.0, 1.0}
