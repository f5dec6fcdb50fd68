"""What every registered embedding and every kind of positions keeps (contract 2)."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load, save

from foresay import parts
from foresay.data.batch import Batch
from tests.contracts.settings import B, T, V, described, label

every = pytest.mark.parametrize("recipe", described("embedding"), ids=label)
every_positions = pytest.mark.parametrize("recipe", described("positions"), ids=label)


def build(recipe, kind="embedding", size=V):
    torch.manual_seed(1)
    part = parts.make(kind, recipe)
    part.build(size)
    return part.eval()


def batch() -> Batch:
    torch.manual_seed(2)
    return Batch(ids=torch.randint(0, V, (B, T)))


@every
def test_shape_and_width(recipe):
    embedding = build(recipe)
    assert embedding(batch()).shape == (B, T, embedding.width)
    assert embedding(Batch(ids=torch.zeros(B, 0, dtype=torch.long))).shape == (B, 0, embedding.width)


@every
def test_table_to_tie_to(recipe):
    table = build(recipe).weight()
    assert table is None or table.shape[0] == V


@every
def test_one_symbol_one_vector(recipe):
    embedding = build(recipe)
    x = embedding(Batch(ids=torch.tensor([[3, 4, 3]])))[0]
    assert torch.equal(x[0], x[2]) and not torch.equal(x[0], x[1])


@every
def test_every_parameter_gets_gradient(recipe):
    embedding = build(recipe)
    x = embedding(batch())
    if list(embedding.parameters()):
        (x * torch.randn(x.shape)).sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in embedding.parameters())


@every
def test_save_load_and_describe(recipe):
    embedding = build(recipe)
    other = parts.make("embedding", parts.describe(embedding))
    other.build(V)
    other.eval().load_state_dict(load(save(embedding.state_dict())))
    assert torch.equal(other(batch()), embedding(batch()))
    assert parts.describe(other) == parts.describe(embedding)


@every_positions
@pytest.mark.parametrize("width", [6, 7])
def test_positions_shape(recipe, width):
    positions = build(recipe, "positions", width)
    added = positions(torch.arange(T).expand(B, T))
    assert (torch.zeros(B, T, width) + added).shape == (B, T, width)
    assert added.isfinite().all()


@every_positions
def test_positions_depend_on_position_alone(recipe):
    positions = build(recipe, "positions", 6)
    shuffled = torch.tensor([[4, 0, 2], [2, 4, 1]])
    table = torch.zeros(5, 6) + positions(torch.arange(5)[None])
    torch.testing.assert_close(torch.zeros(2, 3, 6) + positions(shuffled), table.view(5, 6)[shuffled])
