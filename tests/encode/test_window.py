"""The feed-forward encoder against its formula."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from foresay.encode.window import Window

B, T, D, H = 2, 5, 3, 7


def build(**settings) -> Window:
    torch.manual_seed(1)
    encoder = Window(size=H, **settings)
    encoder.build(D)
    return encoder.double().eval()


def test_equals_the_formula():
    encoder, x = build(span=3, layers=2), torch.randn(B, T, D, dtype=torch.float64)
    first, second = encoder.dense
    y = encoder(x)[0]
    zero = torch.zeros(D, dtype=torch.float64)
    for row in range(B):
        for t in range(T):
            seen = torch.cat([x[row, s] if s >= 0 else zero for s in (t - 2, t - 1, t)])
            h = torch.tanh(first.weight @ seen + first.bias)
            torch.testing.assert_close(y[row, t], torch.tanh(second.weight @ h + second.bias))


@pytest.mark.parametrize(
    ("name", "function"),
    [("relu", torch.relu), ("sigmoid", torch.sigmoid), ("identity", lambda x: x), ("tanh", torch.tanh)],
)
def test_activations(name: Any, function: Any) -> None:
    encoder, x = build(span=1, activation=name), torch.randn(B, T, D, dtype=torch.float64)
    (layer,) = encoder.dense
    torch.testing.assert_close(encoder(x)[0], function(x @ layer.weight.T + layer.bias))


def test_sees_its_span_and_no_more():
    encoder, x = build(span=3), torch.randn(1, T, D, dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(encoder(x)[0][0, 3].square().sum(), x)
    assert (grad[0].abs().sum(1) > 0).tolist() == [False, True, True, True, False]


def test_state_is_the_last_inputs():
    encoder, x = build(span=3), torch.randn(B, T, D, dtype=torch.float64)
    state = encoder(x, torch.arange(T) < torch.tensor([[1], [4]]))[1]
    assert torch.equal(state["past"][0], torch.stack([torch.zeros(D, dtype=torch.float64), x[0, 0]]))
    assert torch.equal(state["past"][1], x[1, 2:4])


def test_no_steps():
    encoder, x = build(span=3), torch.randn(B, T, D, dtype=torch.float64)
    state = encoder(x)[1]
    y, after = encoder(x[:, :0], None, state)
    assert y.shape == (B, 0, H) and torch.equal(after["past"], state["past"])
