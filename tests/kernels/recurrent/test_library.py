"""torch's functions over padded rows, against each row alone: values, states and gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from foresay import parts
from foresay.errors import UserError
from foresay.kernels.recurrent import engine
from foresay.kernels.recurrent.engine import run_fused
from foresay.kernels.recurrent.library import Library, side_by_side
from foresay.kernels.recurrent.plain import run_plain

B, T, D, H = 4, 5, 3, 7
LENGTHS = [2, 5, 0, 4]
PEERS = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn_tanh": nn.RNN}
every = pytest.mark.parametrize("name", PEERS)


def on_gpu(test):
    return pytest.mark.gpu(pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")(test))


def lengths(*real: int, steps: int = T) -> Tensor:
    return torch.arange(steps) < torch.tensor(real)[:, None]


def made(name: str) -> tuple[nn.Module, Library, Tensor, dict[str, Tensor]]:
    torch.manual_seed(1)
    peer = PEERS[name](D, H, batch_first=True).double()
    library = Library(getattr(torch, name), list(peer.parameters()), True)
    x = torch.randn(B, T, D, dtype=torch.float64)
    return peer, library, x, {s: torch.randn(B, H, dtype=torch.float64) for s in ("hc" if name == "lstm" else "h")}


def alone(peer: nn.Module, x: Tensor, states: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
    given = tuple(state[None] for state in states.values())
    y, after = peer(x, given if len(given) > 1 else given[0])
    after = after if isinstance(after, tuple) else (after,)
    return y, {name: state[0] for name, state in zip(states, after, strict=True)}


@every
def test_whole_rows(name):
    peer, library, x, states = made(name)
    torch.testing.assert_close(library.run(x, states, None), alone(peer, x, states))


@every
def test_padded_rows_equal_each_alone(name):
    peer, library, x, states = made(name)
    mask = lengths(*LENGTHS)
    y, after = library.run(x, states, mask)
    for row, length in enumerate(LENGTHS):
        before = {key: state[row : row + 1] for key, state in states.items()}
        assert (y[row, length:] == 0).all()
        if length == 0:
            assert all(torch.equal(after[key][row], states[key][row]) for key in states)
            continue
        expected, last = alone(peer, x[row : row + 1, :length], before)
        torch.testing.assert_close(y[row, :length], expected[0])
        for key in states:
            torch.testing.assert_close(after[key][row], last[key][0])


@every
def test_step_by_step_equals_all_at_once(name):
    _, library, x, states = made(name)
    mask = lengths(*LENGTHS)
    expected, last = library.run(x, states, mask)
    found = []
    for step in range(T):
        y, states = library.run(x[:, step : step + 1], states, mask[:, step : step + 1])
        found.append(y)
    torch.testing.assert_close(torch.cat(found, 1), expected)
    torch.testing.assert_close(states, last)


@every
def test_padding_gets_no_gradient(name):
    _, library, x, states = made(name)
    mask = lengths(*LENGTHS)
    x.requires_grad_()
    library.run(x, states, mask)[0].square().sum().backward()
    assert (x.grad[~mask] == 0).all() and (x.grad[mask] != 0).any()


@every
def test_gradients_of_padded_rows_equal_those_of_each_alone(name):
    """Of the weights too, through y and through the states after."""
    peer, library, x, states = made(name)
    y, after = library.run(x, states, lengths(*LENGTHS))
    (y.square().sum() + sum(state.sin().sum() for state in after.values())).backward()
    found = [weight.grad.clone() for weight in peer.parameters()]
    peer.zero_grad()
    for row, length in enumerate(LENGTHS):
        if length:
            before = {key: state[row : row + 1] for key, state in states.items()}
            y, after = alone(peer, x[row : row + 1, :length], before)
            (y.square().sum() + sum(state.sin().sum() for state in after.values())).backward()
    torch.testing.assert_close(found, [weight.grad for weight in peer.parameters()])


@every
def test_padding_may_hold_anything(name):
    """Even what drives every gate to its end: c is kept to the last bit."""
    _, library, x, states = made(name)
    mask = lengths(*LENGTHS)
    expected = library.run(x, states, mask)
    for large in (1e3, -1e3):
        y, after = library.run(x.masked_fill(~mask[..., None], large), states, mask)
        assert torch.equal(y, expected[0]) and all(torch.equal(after[key], expected[1][key]) for key in states)


def test_side_by_side_in_another_type():
    peer, *_ = made("lstm")
    weights = list(peer.parameters())
    found = side_by_side(weights, torch.float32)
    assert len({weight.untyped_storage().data_ptr() for weight in found}) == 1
    torch.testing.assert_close(found, weights, check_dtype=False)
    sum((weight * n).sum() for n, weight in enumerate(found, 1)).backward()
    assert all((weight.grad == n).all() for n, weight in enumerate(weights, 1))


@on_gpu
@every
@pytest.mark.parametrize("size", [D, 8])
def test_padded_rows_on_a_gpu(name, size):
    """As on a CPU: values, states, gradients, and nothing of what padding holds. cuDNN's products may be of TF32."""
    torch.manual_seed(1)
    peer = PEERS[name](size, H, batch_first=True)
    mask, x = lengths(*LENGTHS), torch.randn(B, T, size)
    states = {s: torch.randn(B, H) for s in ("hc" if name == "lstm" else "h")}
    found = []
    for device in ("cpu", "cuda", "cuda"):
        peer = peer.to(device).requires_grad_()
        library = Library(getattr(torch, name), list(peer.parameters()), True)
        given = x.masked_fill(~mask[..., None], 1e3 * len(found)).to(device).requires_grad_()
        y, after = library.run(given, {key: state.to(device) for key, state in states.items()}, mask.to(device))
        loss = y.square().sum() + sum(state.sin().sum() for state in after.values())
        grads = torch.autograd.grad(loss, [given, *peer.parameters()])
        found.append([one.detach().cpu() for one in (y, *after.values(), *grads)])
    for on_cpu, once, again in zip(*found, strict=True):
        torch.testing.assert_close(once, on_cpu, atol=3e-3, rtol=3e-3)
        torch.testing.assert_close(again, once, atol=1e-6, rtol=1e-6)


@on_gpu
@every
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_the_one_asked_for(name, dtype):
    """2e-2 of the length, 8 bits over five steps; a gradient of 1e-9, which float16 cannot hold, arrives."""
    peer, library, x, states = made(name)
    expected = alone(peer, x, states)[0]
    expected.sum().backward()
    grads = [weight.grad for weight in peer.parameters()]
    peer.zero_grad()
    peer = peer.float().cuda()
    library = Library(getattr(torch, name), list(peer.parameters()), True)
    scale = 1e-9 if dtype == torch.bfloat16 else 1.0
    with torch.autocast("cuda", dtype):
        y = library.run(x.float().cuda(), {key: state.float().cuda() for key, state in states.items()}, None)[0]
    assert y.dtype == dtype
    y.backward(torch.full_like(y, scale))
    for found, wanted in zip((y, *(p.grad / scale for p in peer.parameters())), (expected, *grads), strict=True):
        assert (found.double().cpu() - wanted).norm() < 2e-2 * wanted.norm()


@on_gpu
@every
def test_weights_of_half_precision_lie_in_one_buffer(name):
    """Or cuDNN would copy them at every call, and warn, which is an error here; 2e-2 of the length for 8 bits."""
    peer, _, x, states = made(name)
    expected = alone(peer, x, states)[0].detach()
    library = Library(getattr(torch, name), list(peer.bfloat16().cuda().parameters()), True)
    given = {key: state.bfloat16().cuda() for key, state in states.items()}
    for _ in range(2):
        y = library.run(x.bfloat16().cuda(), given, None)[0]
        y.sum().backward()
    assert len({weight.untyped_storage().data_ptr() for weight in library.weights}) == 1
    assert (y.detach().double().cpu() - expected).norm() < 2e-2 * expected.norm()


@every
@pytest.mark.parametrize("mask", [None, lengths(2, 5, 1, 4)], ids=["whole", "padded"])
def test_states_of_other_rows_are_refused(name, mask):
    """torch looks at no rows and reads past their end."""
    _, library, x, states = made(name)
    for rows in (1, 3, 5):
        wrong = {key: torch.randn(rows, H, dtype=torch.float64) for key in states}
        with pytest.raises(UserError, match=f"state h has {rows} rows and x has 4; pass a row for each of x"):
            library.run(x, wrong, mask)


def test_when_the_engine_runs_instead(monkeypatch):
    """On a CPU: torch's LSTM is fused already, its GRU and RNN are not; small work and other types stay with torch."""
    ran = []
    monkeypatch.setattr(engine, "run_plain", lambda *given: ran.append("plain") or run_plain(*given))
    monkeypatch.setattr(engine, "run_fused", lambda *given: ran.append("fused") or run_fused(*given))
    taken = ["fused"] if engine.library() is not None else []
    for name, expected in {"lstm": [], "gru-cudnn": taken, "elman": taken}.items():
        cell = parts.make("cell", {"kind": name})
        cell.build(8, 64)
        x = torch.randn(64, engine.WORTH // 64 // 64, 8)
        for given, wanted in ((x, expected), (x[:, 1:2], []), (x.double(), [])):
            cell.to(given.dtype)
            ran.clear()
            cell.run(given, cell.begin(given))
            assert ran == wanted, (name, given.shape, given.dtype)
        with torch.autocast("cpu", torch.bfloat16):
            assert not engine.beats_library(cell.maths, x, name, training=False)
