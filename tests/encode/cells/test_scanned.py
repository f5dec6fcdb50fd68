"""Cells that scan: all steps at once equal the plain loop, and each cell's values are those of its equations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from foresay.encode.cells.lru import LRU
from foresay.encode.cells.mingru import MinGRU
from foresay.encode.cells.minlstm import MinLSTM
from foresay.encode.cells.scanned import held
from foresay.encode.recurrent import Recurrent
from foresay.errors import UserError

B, T, D, H = 3, 11, 5, 7
CELLS = [
    MinGRU(),
    MinGRU(candidate="identity"),
    MinLSTM(),
    MinLSTM(candidate="identity", forget_bias=0.0),
    LRU(),
    LRU(least=0.5, most=0.9, phase=0.3, activation="gelu"),
]
every = pytest.mark.parametrize(
    "cell", CELLS, ids=lambda cell: f"{cell.part_name}-{'-'.join(map(str, cell.settings.values()))}"
)
MASKS = {
    "none": None,
    "right": torch.arange(T) < torch.tensor([[4], [T], [0]]),
    "scattered": torch.rand(B, T, generator=torch.Generator().manual_seed(1)) < 0.5,
}


def built(cell, dtype=torch.float64):
    torch.manual_seed(1)
    cell.build(D, H)
    return cell.to(dtype)


def given(cell, dtype=torch.float64):
    torch.manual_seed(2)
    x = torch.randn(B, T, D, dtype=dtype, requires_grad=True)
    return x, {name: torch.randn(B, H, dtype=dtype, requires_grad=True) for name in cell.states}


def value_and_gradients(cell, mask):
    x, memory = given(cell)
    y, after = cell.run(x, memory, mask)
    values = [y, *after.values()]
    torch.manual_seed(3)
    loss = sum((value * torch.randn(value.shape, dtype=value.dtype)).sum() for value in values)
    wanted = [x, *(memory[name] for name in cell.states), *cell.parameters()]
    return values, torch.autograd.grad(loss, wanted, allow_unused=True, materialize_grads=True)


@every
@pytest.mark.parametrize("mask", MASKS)
def test_scan_equals_the_plain_loop(cell, mask, monkeypatch):
    """Values and gradients in float64, to 1e-10; y is zero where masked and padding keeps every state."""
    cell = built(cell)
    fast = value_and_gradients(cell, MASKS[mask])
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    plain = value_and_gradients(cell, MASKS[mask])
    torch.testing.assert_close(fast, plain, rtol=1e-10, atol=1e-10)


@every
def test_trace_equals_the_plain_loop(cell, monkeypatch):
    cell = built(cell)
    x, memory = given(cell)
    found, after = cell.trace(x, memory, MASKS["right"])
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    expected, last = cell.trace(x, memory, MASKS["right"])
    assert set(found) == set(expected) >= set(cell.states) and all(v.shape == (B, T, H) for v in found.values())
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(after, last, rtol=1e-10, atol=1e-10)


@every
def test_in_an_encoder_chunks_equal_one_pass(cell):
    torch.manual_seed(1)
    encoder = Recurrent(cell=cell, size=2 * H, layers=2, bidirectional=False)
    encoder.build(D)
    x = torch.randn(B, T, D)
    whole, _ = encoder(x)
    first, state = encoder(x[:, :4], state=encoder.begin(B))
    second, _ = encoder(x[:, 4:], state=state)
    torch.testing.assert_close(torch.cat([first, second], 1), whole, rtol=1e-5, atol=1e-5)


@every
def test_half_precision_is_widened_for_the_scan(cell):
    cell = built(cell, torch.bfloat16)
    x, memory = given(cell, torch.bfloat16)
    y, after = cell.run(x, memory)
    assert y.dtype == torch.bfloat16 and all(state.dtype == torch.bfloat16 for state in after.values())
    exact = cell.double().run(x.double(), {name: state.double() for name, state in memory.items()})[0]
    torch.testing.assert_close(y.double(), exact, rtol=3e-2, atol=3e-2)


def test_mingru_by_hand():
    """x = 1, h = 2: z = sigmoid(ln 3) = 0.75; v = 1 gives h~ = 1.5, v = -1 gives sigmoid(-1) = 0.26894142.

    h' = 0.25 * 2 + 0.75 * 1.5 = 1.625;  0.5 + 0.75 * 0.26894142 = 0.70170607
    """
    for v, expected in ((1.0, 1.625), (-1.0, 0.70170607)):
        cell = MinGRU()
        cell.build(1, 1)
        cell.load_state_dict({"weight_ih": torch.tensor([[math.log(3)], [v]]), "bias_ih": torch.zeros(2)})
        assert cell.run(torch.ones(1, 1, 1), {"h": torch.tensor([[2.0]])})[0].item() == pytest.approx(expected)


def test_minlstm_by_hand():
    """f = sigmoid(ln 3) = 0.75, i = sigmoid(-ln 3) = 0.25: shares 0.75 and 0.25; h' = 0.75 * 2 + 0.25 * 5 = 2.75."""
    cell = MinLSTM(candidate="identity")
    cell.build(1, 1)
    weight = torch.tensor([[math.log(3)], [-math.log(3)], [5.0]])
    cell.load_state_dict({"weight_ih": weight, "bias_ih": torch.zeros(3)})
    assert cell.run(torch.ones(1, 1, 1), {"h": torch.tensor([[2.0]])})[0].item() == pytest.approx(2.75)


def test_minlstm_shares_where_both_gates_are_nothing():
    """f = e^-200, i = e^-201 in float32: both round to 0, their shares do not: sigmoid(1) = 0.73105858."""
    cell = MinLSTM(candidate="identity")
    cell.build(1, 1)
    cell.load_state_dict({"weight_ih": torch.tensor([[-200.0], [-201.0], [0.0]]), "bias_ih": torch.zeros(3)})
    x, memory = torch.ones(1, 1, 1, requires_grad=True), {"h": torch.ones(1, 1)}
    y, _ = cell.run(x, memory)
    assert y.item() == pytest.approx(0.73105858)
    assert torch.autograd.grad(y.sum(), x)[0].isfinite().all()


def test_mingru_keeps_exactly_where_z_is_next_to_one():
    """z = 1 - e^-30 rounds to 1, and 1 - z to 0; sigmoid(-30) is e^-30."""
    cell = MinGRU(candidate="identity")
    cell.build(1, 1)
    cell.load_state_dict({"weight_ih": torch.tensor([[30.0], [0.0]]), "bias_ih": torch.zeros(2)})
    y, _ = cell.run(torch.ones(1, 1, 1), {"h": torch.tensor([[1.0]])})
    assert y.item() == pytest.approx(math.exp(-30), rel=1e-5)


def test_lru_equals_complex_numbers_in_numpy():
    cell = built(LRU(least=0.3, most=0.95))
    x, memory = given(cell)
    y, after = cell.run(x, memory)
    w = {name: p.detach().numpy() for name, p in cell.named_parameters()}
    eigenvalue = np.exp(-np.exp(w["nu"]) + 1j * np.exp(w["theta"]))
    into = w["weight_ih"][:H] + 1j * w["weight_ih"][H : 2 * H]
    out = w["weight_new_re"] - 1j * w["weight_new_im"]  # Re(C s) = C_re re - C_im im
    s = (memory["re"] + 1j * memory["im"]).detach().numpy()
    for t in range(T):
        x_t = x[:, t].detach().numpy()
        s = eigenvalue * s + np.exp(w["gamma"]) * (x_t @ into.T)
        expected = (s @ out.T).real + x_t @ w["weight_ih"][2 * H :].T
        np.testing.assert_allclose(y[:, t].detach().numpy(), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(after["im"].detach().numpy(), s.imag, rtol=1e-9)


def test_lru_begins_on_the_ring_with_states_the_size_of_its_inputs():
    torch.manual_seed(1)
    cell = LRU(least=0.6, most=0.9, phase=0.5)
    cell.build(32, 4096)
    size, angle = (-cell.nu.exp()).exp().detach(), cell.theta.exp().detach()
    assert 0.6 <= size.min() < 0.61 and 0.89 < size.max() <= 0.9 and angle.max() <= 0.5
    assert (size < math.sqrt((0.36 + 0.81) / 2)).float().mean().item() == pytest.approx(0.5, abs=0.03)  # even in area
    x = torch.randn(4, 200, 32)
    kept, _ = cell.trace(x, cell.begin(x), names=("re", "im"))
    power = (kept["re"][:, -1] ** 2 + kept["im"][:, -1] ** 2).mean().item()
    assert power == pytest.approx(1.0, rel=0.15)  # |x B|^2 is 1: B has 1 / (2 D) in each part


def test_lru_stays_below_one_whatever_is_learnt():
    cell = built(LRU())
    with torch.no_grad():
        cell.nu.fill_(-30.0)
    x = torch.ones(1, 5000, D, dtype=torch.float64)
    y, _ = cell.run(x, cell.begin(x))
    assert y.isfinite().all()


def test_lru_refuses_an_empty_ring():
    with pytest.raises(UserError, match=r"least=0.9, most=0.9; allowed: least < most"):
        LRU(least=0.9, most=0.9)


def test_held_takes_the_last_real_step():
    """Row 1 begins with padding: there its state before stands."""
    states = torch.tensor([1.0, 2.0, 3.0, 4.0])[:, None, None].expand(4, 2, 1)
    mask = torch.tensor([[True, False], [True, True], [False, False], [False, True]])[:, :, None]
    found = held(states, torch.tensor([[9.0], [8.0]]), mask)
    assert found[:, :, 0].T.tolist() == [[1.0, 2.0, 2.0, 2.0], [8.0, 2.0, 2.0, 4.0]]
