"""A stack is its encoders called one after the other."""

from __future__ import annotations

import pytest
import torch

from foresay.encode.recurrent import Recurrent
from foresay.encode.stack import Stack
from foresay.encode.window import Window
from foresay.errors import UserError


def test_calls_one_after_the_other():
    stack = Stack(layers=[Window(size=5, span=2), Recurrent(size=7, layers=2)])
    stack.build(3)
    stack.eval()
    x = torch.randn(2, 5, 3)
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    middle = stack.parts[0](x, mask)[0]
    y, state = stack(x, mask)
    assert torch.equal(y, stack.parts[1](middle, mask)[0])
    assert stack.width == 7 and set(state) == {"position", "0", "1"}
    layers = stack.layers(x, mask)
    assert [layer.shape[2] for layer in layers] == [5, 7, 7] and torch.equal(layers[0], middle)


def test_causal_when_all_are():
    assert Stack(layers=[Window(), Recurrent()]).causal
    assert not Stack(layers=[Window(), Recurrent(bidirectional=True)]).causal


def test_one_object_twice_is_two_encoders():
    window = Window(size=3)
    stack = Stack(layers=[window, window])
    stack.build(3)
    assert stack.parts[0].dense[0].weight is not stack.parts[1].dense[0].weight


def test_empty_stack_is_refused():
    with pytest.raises(UserError, match="a list of encoder parts"):
        Stack(layers=[])
