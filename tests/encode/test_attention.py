"""Attention against tables worked by hand, against torch.nn, and what a step gives that sees nothing."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from foresay.encode.attention import Attention, Heads, Seen
from foresay.encode.block import Block, Form
from foresay.errors import UserError

WORDS = ["the", "bank", "is", "on", "the", "river", "bank"]
TABLE = [  # how much of each word (column) goes into each (row); every row sums to one
    [0.9, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.5, 0.0, 0.0, 0.0, 0.4, 0.1],
    [0.0, 0.2, 0.8, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.1, 0.8, 0.0, 0.1, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.9, 0.0, 0.1],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.8, 0.2],
    [0.0, 0.1, 0.0, 0.0, 0.0, 0.3, 0.6],
]


def of_width(size: int, heads: int = 1, **settings) -> Attention:
    torch.manual_seed(1)
    return Attention(size, heads, Heads(**settings)).double()


def test_bank():
    """Scores log p, -inf for 0, give back p, and c = p v."""
    p = torch.tensor(TABLE, dtype=torch.float64)
    assert p.shape == (len(WORDS), len(WORDS)) and torch.allclose(p.sum(1), torch.ones(7, dtype=torch.float64))
    attention, v = of_width(7, scale=False, join=False), torch.randn(7, 7, dtype=torch.float64)
    q, k = p.clamp(min=1e-300).log()[None, None], torch.eye(7, dtype=torch.float64)[None, :, None]
    seen = Seen((p > 0)[None, None])
    torch.testing.assert_close(attention.weights(q, k, seen)[0, 0], p)
    torch.testing.assert_close(attention.mix(q, k, v[None, :, None], seen)[0], p @ v)


def test_two_tokens_by_hand():
    """q_2 = (1, 0), k_1 = (2, 0), k_2 = (0, 5): scores 2/sqrt(2) and 0, so p = sigmoid(sqrt(2)) and the rest."""
    attention = of_width(2, join=False)
    q = torch.tensor([[[[0.0, 1.0], [1.0, 0.0]]]], dtype=torch.float64)
    k = torch.tensor([[[[2.0, 0.0]], [[0.0, 5.0]]]], dtype=torch.float64)
    v = torch.tensor([[[[1.0, 0.0]], [[0.0, 1.0]]]], dtype=torch.float64)
    first = 1 / (1 + math.exp(-math.sqrt(2)))
    expected = torch.tensor([[1.0, 0.0], [first, 1 - first]], dtype=torch.float64)
    torch.testing.assert_close(attention.mix(q, k, v, Seen(causal=True))[0], expected)
    torch.testing.assert_close(attention.weights(q, k, Seen(causal=True))[0, 0], expected)


@pytest.mark.parametrize("causal", [True, False])
def test_equals_torch(causal):
    ours, peer = of_width(12, heads=3), nn.MultiheadAttention(12, 3, batch_first=True).double()
    assert ours.qkv is not None and ours.join is not None
    with torch.no_grad():
        peer.in_proj_weight.copy_(ours.qkv.weight)
        peer.in_proj_bias.copy_(ours.qkv.bias.normal_())
        peer.out_proj.weight.copy_(ours.join.weight)
        peer.out_proj.bias.copy_(ours.join.bias.normal_())
    x = torch.randn(2, 5, 12, dtype=torch.float64)
    hidden = torch.ones(5, 5, dtype=torch.bool).triu(1) if causal else None
    expected, maps = peer(x, x, x, attn_mask=hidden, average_attn_weights=False)
    q, k, v = ours.project(x)
    torch.testing.assert_close(ours.mix(q, k, v, Seen(causal=causal)), expected)
    torch.testing.assert_close(ours.weights(q, k, Seen(causal=causal)), maps)


@pytest.mark.parametrize("place", ["pre", "post"])
@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_block_equals_torch(place, activation):
    torch.manual_seed(1)
    ours = Block(12, 3, Heads(), Form(hidden=20, place=place, activation=activation), 0.0).double().eval()
    peer = nn.TransformerEncoderLayer(
        12, 3, 20, 0.0, activation=activation, batch_first=True, norm_first=place == "pre"
    ).double().train()  # fmt: skip
    pairs = {
        "self_attn.in_proj_weight": ours.attention.qkv.weight, "self_attn.in_proj_bias": ours.attention.qkv.bias,
        "self_attn.out_proj.weight": ours.attention.join.weight, "self_attn.out_proj.bias": ours.attention.join.bias,
        "linear1.weight": ours.dense.rise.weight, "linear1.bias": ours.dense.rise.bias,
        "linear2.weight": ours.dense.fall.weight, "linear2.bias": ours.dense.fall.bias,
        "norm1.weight": ours.norm_attention.weight, "norm1.bias": ours.norm_attention.bias,
        "norm2.weight": ours.norm_dense.weight, "norm2.bias": ours.norm_dense.bias,
    }  # fmt: skip
    with torch.no_grad():
        for name, parameter in pairs.items():
            peer.get_parameter(name).copy_(parameter.normal_())
    x = torch.randn(2, 5, 12, dtype=torch.float64)

    torch.testing.assert_close(ours(x, Seen())[0], peer(x))


@pytest.mark.parametrize("groups", [1, 2])
def test_groups_share_keys_and_values(groups):
    attention, x = of_width(12, heads=4, groups=groups, width=2, values=5), torch.randn(2, 5, 12, dtype=torch.float64)
    q, k, v = attention.project(x)
    assert k.shape == (2, 5, groups, 2) and v.shape == (2, 5, groups, 5)
    heads = []
    for head in range(4):
        own = head * groups // 4
        p = (q[:, head] @ k[:, :, own].transpose(1, 2) / math.sqrt(2)).softmax(-1)
        heads.append(p @ v[:, :, own])
    assert attention.join is not None
    torch.testing.assert_close(attention.mix(q, k, v, Seen()), attention.join(torch.cat(heads, -1)))


def test_a_step_that_sees_nothing_gives_zeros():
    attention, x = of_width(4, join=False), torch.randn(1, 3, 4, dtype=torch.float64, requires_grad=True)
    seen = Seen.only(torch.tensor([[[[True, False, True], [False, False, False], [True, True, True]]]]))
    q, k, v = attention.project(x)
    y = attention.mix(q, k, v, seen)
    assert (y[0, 1] == 0).all() and (y[0, [0, 2]] != 0).all()
    assert (attention.weights(q, k, seen)[0, 0, 1] == 0).all()
    (gradient,) = torch.autograd.grad(y.square().sum(), x)
    assert gradient.isfinite().all()


def test_a_memory():
    """Queries from x, keys and values from elsewhere, of another width and length."""
    torch.manual_seed(1)
    attention = Attention(6, 2, Heads(), memory=5).double()
    x, memory = torch.randn(2, 3, 6, dtype=torch.float64), torch.randn(2, 4, 5, dtype=torch.float64)
    k, v = attention.remember(memory)
    q = attention.ask(x)
    assert attention.join is not None
    p = (q @ k.transpose(1, 2).transpose(2, 3) / math.sqrt(3)).softmax(-1)
    expected = attention.join((p @ v.transpose(1, 2)).transpose(1, 2).flatten(2))
    torch.testing.assert_close(attention.mix(q, k, v, Seen()), expected)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"heads": 5}, "^heads=5 does not divide size=12: .* such as 4 or 6, or any number with attention.width"),
        ({"heads": 4, "groups": 3}, "^attention.groups=3 does not divide heads=4: .* allowed: 1, 2, 4$"),
        ({"heads": 4, "values": 2, "join": False}, "4 heads of 2 .* size=12; allowed: attention.values=3, or"),
        (
            {"heads": 5, "width": 2, "join": False},
            "5 heads of 2 .* allowed: heads that divide 12, or attention.join=true",
        ),
    ],
)
def test_bad_settings(settings, says):
    with pytest.raises(UserError, match=says):
        of_width(12, **settings)
