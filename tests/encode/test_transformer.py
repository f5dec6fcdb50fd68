"""The Transformer against loops over rows, heads and steps; what its cache keeps; its errors."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresay import parts
from foresay.encode.transformer import Transformer
from foresay.errors import UserError

B, T, D = 2, 6, 3


def build(**settings) -> Transformer:
    torch.manual_seed(1)
    encoder = Transformer(**({"size": 6, "layers": 2, "heads": 2} | settings))
    encoder.build(D)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return encoder.double().eval()


def by_loops(encoder: Transformer, x):
    """One document x (T, D), step by step and head by head."""
    size, heads = encoder.width, encoder.heads
    d, window = size // heads, encoder.window or len(x)
    stream = encoder.widen(x) + encoder.positions(torch.arange(len(x)))
    for block in encoder.blocks:
        q, k, v = block.qkv(block.norm_attention(stream)).split(size, 1)
        mixed = torch.zeros_like(stream)
        for head in range(heads):
            part = slice(head * d, (head + 1) * d)
            for step in range(len(x)):
                seen = range(max(0, step - window + 1), step + 1)
                scores = torch.stack([q[step, part] @ k[other, part] for other in seen]) / d**0.5
                weights = scores.exp() / scores.exp().sum()
                mixed[step, part] = sum(w * v[other, part] for w, other in zip(weights, seen, strict=True))
        stream = stream + block.join(mixed)
        stream = stream + block.fall(F.gelu(block.rise(block.norm_dense(stream))))
    return encoder.norm(stream)


@pytest.mark.parametrize("window", [None, 1, 3, 20])
@pytest.mark.parametrize("positions", ["learnt", "sinusoidal", "none"])
def test_equals_loops(window, positions):
    encoder, x = build(window=window, positions=positions), torch.randn(B, T, D, dtype=torch.float64)
    starts = torch.zeros(B, T, dtype=torch.bool)
    starts[1, 2] = True
    torch.testing.assert_close(encoder(x)[0][0], by_loops(encoder, x[0]))
    y = encoder(x, starts=starts)[0]
    torch.testing.assert_close(y[0], by_loops(encoder, x[0]))
    torch.testing.assert_close(y[1], torch.cat([by_loops(encoder, x[1, :2]), by_loops(encoder, x[1, 2:])]))


def test_positions_count_from_the_document():
    """With learnt positions the second chunk of a document does not begin at 0 again, the next document does."""
    encoder, x = build(positions="learnt", layers=1), torch.randn(1, T, D, dtype=torch.float64)
    state = encoder(x[:, :4])[1]
    later = encoder(x[:, 4:], None, state)[0]
    torch.testing.assert_close(later[0], by_loops(encoder, x[0])[4:])


def test_window_bounds_the_cache():
    encoder, state = build(window=3), None
    for step in range(7):
        mask = torch.tensor([[True], [step % 2 == 0]])
        _, state = encoder(torch.randn(B, 1, D, dtype=torch.float64), mask, state)
    assert state is not None and state["at"].shape == (B, 2) and state["0"]["k"].shape == (B, 2, 2, 3)
    assert state["at"].tolist() == [[6, 5], [3, 2]]


def test_cache_without_a_window_keeps_all():
    encoder = build()
    mask = torch.arange(T) < torch.tensor([[2], [6]])
    state = encoder(torch.randn(B, T, D, dtype=torch.float64), mask)[1]
    assert state["at"].tolist() == [[0, 1, -1, -1, -1, -1], [0, 1, 2, 3, 4, 5]]
    assert state["begun"].tolist() == [0, 0]


def test_reads_past_the_window_only_through_layers():
    """One layer with window 2 sees one step back and no further."""
    encoder, x = build(window=2, layers=1, positions="none"), torch.randn(1, T, D, dtype=torch.float64)
    x.requires_grad_()
    (grad,) = torch.autograd.grad(encoder(x)[0][0, 4].square().sum(), x)
    assert (grad[0].abs().sum(1) > 0).tolist() == [False, False, False, True, True, False]


def test_beginnings():
    """GPT-2's deviations: 0.02, and 0.02 / sqrt(2 * layers) on what is added to the stream."""
    torch.manual_seed(1)
    encoder = Transformer(size=128, layers=8, heads=4)
    encoder.build(128)
    block = encoder.blocks[3]
    assert block.qkv.weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert block.rise.weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert block.join.weight.std().item() == pytest.approx(0.005, rel=0.05)
    assert block.fall.weight.std().item() == pytest.approx(0.005, rel=0.05)
    assert block.fall.out_features == 128 and block.rise.out_features == 512


def test_heads_must_divide_the_size():
    with pytest.raises(UserError, match="heads=4 does not divide size=14"):
        Transformer(size=14, heads=4)


def test_past_the_learnt_positions_is_refused():
    encoder = build(positions={"kind": "learnt", "longest": 8})
    x = torch.randn(1, 5, D, dtype=torch.float64)
    state = encoder(x)[1]
    with pytest.raises(UserError, match="longest=8"):
        encoder(x, None, state)


def test_no_steps():
    y, state = build()(torch.zeros(B, 0, D, dtype=torch.float64))
    assert y.shape == (B, 0, 6) and state["position"].tolist() == [0, 0]


def test_a_masked_step_needs_no_further_position():
    """A row that has ended stays where it is, also when its positions are used up."""
    encoder = parts.make("encoder", {"kind": "transformer", "size": 4, "layers": 1, "heads": 1,
                                     "positions": {"kind": "learnt", "longest": 3}})  # fmt: skip
    encoder.build(4)
    _, state = encoder(torch.randn(2, 3, 4))
    y, after = encoder(torch.randn(2, 1, 4), torch.zeros(2, 1, dtype=torch.bool), state)
    assert torch.equal(after["position"], state["position"]) and not y.any()
