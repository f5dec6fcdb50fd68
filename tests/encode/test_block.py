"""A block by its formulas: norms, dense layers, places of the norm, a memory, and how weights begin."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from foresay.encode.attention import Heads, Seen
from foresay.encode.block import Block, Dense, Form, Memory

X = torch.tensor([[[1.0, -2.0, 0.5, 3.0], [0.0, 1.0, -1.0, 2.0]]], dtype=torch.float64)


def moved(module: torch.nn.Module):
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.5 * torch.randn_like(parameter))
    return module.double().eval()


def layer(x: Tensor, norm) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return norm.weight * centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt() + norm.bias


def test_rms_by_hand():
    """Mean of squares of the first row: (1 + 4 + 0.25 + 9) / 4 = 3.5625."""
    norm = Form(norm="rms").new_norm(4).double()
    torch.testing.assert_close(norm(X)[0, 0], X[0, 0] / math.sqrt(3.5625 + 1e-5))


@pytest.mark.parametrize(
    ("activation", "act"),
    [
        ("gelu", lambda x: x * (1 + torch.erf(x / math.sqrt(2))) / 2),
        ("gelu-tanh", lambda x: x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2),
        ("relu", lambda x: x.clamp(min=0)),
    ],
)
def test_dense(activation, act):
    dense = moved(Dense(4, Form(activation=activation)))
    assert dense.rise.out_features == 16
    expected = act(X @ dense.rise.weight.T + dense.rise.bias) @ dense.fall.weight.T + dense.fall.bias
    torch.testing.assert_close(dense(X), expected)


def test_swiglu():
    dense = moved(Dense(6, Form(activation="swiglu", bias=False)))
    x = torch.cat([X, X[..., :2]], -1)
    gate, value = (x @ w.T for w in dense.rise.weight.chunk(2))
    assert len(dense.rise.weight) == 32 and dense.rise.bias is None  # 8/3 of 6, twice
    torch.testing.assert_close(dense(x), (gate * gate.sigmoid() * value) @ dense.fall.weight.T)


@pytest.mark.parametrize("place", ["pre", "post"])
def test_places_of_the_norm(place):
    block = moved(Block(4, 2, Heads(), Form(place=place), 0.0, memory=3))
    source = torch.randn(1, 5, 3, dtype=torch.float64)
    maps: list[Tensor] = []
    memory = Memory(*block.source.remember(source), Seen(), maps)

    def attend(x: Tensor) -> Tensor:
        return block.attention.mix(*block.attention.project(x), Seen(causal=True))

    def recall(x: Tensor) -> Tensor:
        return block.source.mix(block.source.ask(x), memory.k, memory.v, memory.seen)

    x = X
    for norm, f in ((block.norm_attention, attend), (block.norm_memory, recall), (block.norm_dense, block.dense)):
        x = x + f(layer(x, norm)) if place == "pre" else layer(x + f(x), norm)
    found, k, v = block(X, Seen(causal=True), memory=memory)
    torch.testing.assert_close(found, x)
    assert k.shape == v.shape == (1, 2, 2, 2) and [one.shape for one in maps] == [(1, 2, 2, 5)]
    torch.testing.assert_close(maps[0].sum(-1), torch.ones(1, 2, 2, dtype=torch.float64))


def test_the_past_stands_before_what_is_read():
    block = moved(Block(4, 2, Heads(), Form(), 0.0))
    whole, _, _ = block(X, Seen(causal=True))
    _, k, v = block(X[:, :1], Seen(causal=True))
    after, keys, _ = block(X[:, 1:], Seen(), past=(k, v))
    torch.testing.assert_close(after, whole[:, 1:])
    assert keys.shape[1] == 2 and torch.equal(keys[:, :1], k)


def test_what_is_added_to_the_stream_begins_smaller():
    torch.manual_seed(1)
    block = Block(64, 4, Heads(), Form(), 0.0, memory=64)
    block.initialise(8)
    small, usual = [block.dense.fall, block.attention.join, block.source.join], [block.dense.rise, block.attention.qkv]
    for denses, deviation in ((small, 0.02 / 4), (usual, 0.02)):
        for dense in denses:
            assert dense.weight.std().item() == pytest.approx(deviation, rel=0.05) and not dense.bias.any()


def test_rms_of_half_precision_is_that_of_its_weights():
    norm, x = Form(norm="rms").new_norm(4), torch.randn(3, 4).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        found = norm(x)  # torch's own rms norm warns, which is an error here
    torch.testing.assert_close(found, norm(x.float()), rtol=0, atol=0)
