"""What every registered cell keeps, alone: its fast path equals the plain loop, values and gradients, in float64.

The encoder's contract runs over every cell too (padding, chunks, starts, reversal, save and load): test_encoders.py.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from foresay import parts
from foresay.encode.cells.cell import Cell
from tests.contracts.settings import B, D, T, described, label

every = pytest.mark.parametrize("recipe", described("cell"), ids=label)
H = 7


def build(recipe: dict[str, Any]) -> Cell:
    torch.manual_seed(1)
    cell = parts.make("cell", recipe)
    cell.build(D, H)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return cell.double()


def random_memory(cell: Cell, x: Tensor) -> dict[str, Tensor]:
    return {name: torch.rand_like(zero).requires_grad_() for name, zero in cell.begin(x).items()}


def run(cell: Cell, monkeypatch: pytest.MonkeyPatch, plain: str) -> Any:
    monkeypatch.setenv("FORESAY_PLAIN", plain)
    torch.manual_seed(2)
    x = torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)
    memory = random_memory(cell, x)
    torch.manual_seed(3)  # what a modifier draws
    y, after = cell.run(x, memory)
    values = [y, *(after[name] for name in memory)]
    loss = sum((v * torch.randn(v.shape, dtype=v.dtype)).sum() for v in values)  # randn_like follows the memory order
    grads = torch.autograd.grad(loss, [x, *cell.parameters(), *memory.values()], materialize_grads=True)
    return y, after, grads[: -len(memory)], grads[-len(memory) :]


@pytest.mark.parametrize("training", [False, True])
@every
def test_fast_path_equals_plain_loop(recipe, training, monkeypatch):
    cell = build(recipe).train(training)
    fast, plain = run(cell, monkeypatch, "0"), run(cell, monkeypatch, "1")
    torch.testing.assert_close(fast, plain, rtol=1e-10, atol=1e-10)
    assert all((grad != 0).any() for grad in plain[2])
    assert any((grad != 0).any() for grad in plain[3])


@every
def test_states_and_shapes(recipe):
    cell = build(recipe).eval()
    x = torch.randn(B, T, D, dtype=torch.float64)
    memory = cell.begin(x)
    y, after = cell.run(x, memory)
    assert y.shape == (B, T, cell.width) and after.keys() == memory.keys() >= set(cell.states)
    assert torch.equal(after["h"], y[:, -1])
    assert all(after[name].shape == zero.shape for name, zero in memory.items())


@every
def test_trace_names_every_state_and_value(recipe):
    """All (B, T, width); the states are those of the run, and the last of each is what is carried on."""
    cell = build(recipe).eval()
    x = torch.randn(B, T, D, dtype=torch.float64)
    found, after = cell.trace(x, cell.begin(x))
    assert set(found) >= set(cell.states)
    assert all(value.shape[:2] == (B, T) for value in found.values())
    y, expected = cell.run(x, cell.begin(x))
    torch.testing.assert_close(found["h"], y, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(after, expected, rtol=1e-10, atol=1e-10)
    for name in cell.states:
        torch.testing.assert_close(found[name][:, -1], after[name], rtol=1e-10, atol=1e-10)


@every
def test_describe_and_make(recipe):
    cell = build(recipe)
    assert parts.describe(parts.make("cell", parts.describe(cell))) == parts.describe(cell)
