"""What every registered cell keeps: its library path equals its plain loop, values and gradients, in float64."""

from __future__ import annotations

import pytest
import torch

from foresay import parts
from tests.contracts.settings import B, D, T, described, label

every = pytest.mark.parametrize("recipe", described("cell"), ids=label)
H = 7


def build(recipe):
    torch.manual_seed(1)
    cell = parts.make("cell", recipe)
    cell.build(D, H)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return cell.double()


def run(cell, monkeypatch, plain: str):
    monkeypatch.setenv("FORESAY_PLAIN", plain)
    torch.manual_seed(2)
    x = torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)
    state = {name: torch.randn(B, H, dtype=torch.float64, requires_grad=True) for name in cell.states}
    y, after = cell.run(x, state)
    values = [y, *(after[name] for name in cell.states)]
    loss = sum((v * torch.randn(v.shape, dtype=v.dtype)).sum() for v in values)  # randn_like follows the memory order
    wanted = [x, *state.values(), *cell.parameters()]
    return y, after, torch.autograd.grad(loss, wanted)


@every
def test_library_equals_plain_loop(recipe, monkeypatch):
    cell = build(recipe)
    fast, plain = run(cell, monkeypatch, "0"), run(cell, monkeypatch, "1")
    torch.testing.assert_close(fast, plain, rtol=1e-10, atol=1e-10)
    assert all((grad != 0).any() for grad in plain[2])


@every
def test_packed_rows_equal_segments(recipe):
    cell = build(recipe)
    if cell.fused is None:
        pytest.skip("no fused function, no packed rows")
    x, lengths = torch.randn(4, T, D, dtype=torch.float64), [2, 5, 0, 4]
    state = {name: torch.randn(4, H, dtype=torch.float64) for name in cell.states}
    y, after = cell.ragged(x, state, torch.arange(T) < torch.tensor(lengths)[:, None])
    for row, length in enumerate(lengths):
        before = {name: old[row : row + 1] for name, old in state.items()}
        expected, last = cell.run(x[row : row + 1, :length], before) if length else (x[:0, :0, :1], before)
        torch.testing.assert_close(y[row, :length], expected.view(length, H), rtol=1e-10, atol=1e-10)
        assert (y[row, length:] == 0).all()
        for name in cell.states:
            torch.testing.assert_close(after[name][row], last[name][0], rtol=1e-10, atol=1e-10)


@every
def test_states_and_shapes(recipe):
    cell = build(recipe)
    x = torch.randn(B, T, D, dtype=torch.float64)
    assert cell.project(x).shape == (B, T, cell.gates * H)
    y, after = cell.run(x, cell.begin(x))
    assert y.shape == (B, T, H) and set(after) == set(cell.states)
    assert torch.equal(after["h"], y[:, -1])
    assert all(state.shape == (B, H) for state in after.values())


@every
def test_plain_step_is_the_loop(recipe):
    cell = build(recipe)
    x = torch.randn(B, T, D, dtype=torch.float64)
    y, state = cell.run(x, cell.begin(x))[0], cell.begin(x)
    for step, projected in enumerate(cell.project(x).unbind(1)):
        state = cell.step(projected, state)
        torch.testing.assert_close(state["h"], y[:, step], rtol=1e-10, atol=1e-10)


@every
def test_describe_and_make(recipe):
    cell = build(recipe)
    assert parts.describe(parts.make("cell", parts.describe(cell))) == parts.describe(cell)
    fresh = parts.anew(cell)
    assert parts.describe(fresh) == parts.describe(cell) and fresh is not cell
