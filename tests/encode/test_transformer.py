"""The Transformer against loops over rows, heads and steps; what its cache keeps; its errors."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresay import parts
from foresay.encode.attention import Heads, Seen
from foresay.encode.block import Form
from foresay.encode.encoder import map_state, reorder
from foresay.encode.transformer import Transformer
from foresay.errors import UserError
from tests.gpu import GPU, HALF, by_kernels

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
        q, k, v = block.attention.qkv(block.norm_attention(stream)).split(size, 1)
        mixed = torch.zeros_like(stream)
        for head in range(heads):
            part = slice(head * d, (head + 1) * d)
            for step in range(len(x)):
                seen = range(max(0, step - window + 1), step + 1)
                scores = torch.stack([q[step, part] @ k[other, part] for other in seen]) / d**0.5
                weights = scores.exp() / scores.exp().sum()
                mixed[step, part] = sum(w * v[other, part] for w, other in zip(weights, seen, strict=True))
        stream = stream + block.attention.join(mixed)
        stream = stream + block.dense.fall(F.gelu(block.dense.rise(block.norm_dense(stream))))
    return encoder.norm(stream)


@pytest.mark.parametrize("window", [None, 1, 3, 20])
@pytest.mark.parametrize("positions", ["learnt", "sinusoidal", "none"])
def test_equals_loops(window, positions):
    encoder, x = build(attention=Heads(window=window), positions=positions), torch.randn(B, T, D, dtype=torch.float64)
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
    encoder, state = build(attention=Heads(window=3)), None
    for step in range(7):
        mask = torch.tensor([[True], [step % 2 == 0]])
        _, state = encoder(torch.randn(B, 1, D, dtype=torch.float64), mask, state)
    assert (
        state is not None and state["at"].shape == (B, 2) and state["0"]["k"].shape == (B, 2, 2, 3)
    )  # slots, heads, width
    assert state["at"].tolist() == [[6, 5], [3, 2]]


def test_cache_without_a_window_keeps_all():
    encoder = build()
    mask = torch.arange(T) < torch.tensor([[2], [6]])
    state = encoder(torch.randn(B, T, D, dtype=torch.float64), mask)[1]
    assert state["at"].tolist() == [[0, 1, -1, -1, -1, -1], [0, 1, 2, 3, 4, 5]]
    assert state["begun"].tolist() == [0, 0]


def test_reads_past_the_window_only_through_layers():
    """One layer with window 2 sees one step back and no further."""
    encoder, x = build(attention=Heads(window=2), layers=1, positions="none"), torch.randn(1, T, D, dtype=torch.float64)
    x.requires_grad_()
    (grad,) = torch.autograd.grad(encoder(x)[0][0, 4].square().sum(), x)
    assert (grad[0].abs().sum(1) > 0).tolist() == [False, False, False, True, True, False]


def test_beginnings():
    """GPT-2's deviations: 0.02, and 0.02 / sqrt(2 * layers) on what is added to the stream."""
    torch.manual_seed(1)
    encoder = Transformer(size=128, layers=8, heads=4)
    encoder.build(128)
    block = encoder.blocks[3]
    assert block.attention.qkv.weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert block.dense.rise.weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert block.attention.join.weight.std().item() == pytest.approx(0.005, rel=0.05)
    assert block.dense.fall.weight.std().item() == pytest.approx(0.005, rel=0.05)
    assert block.dense.fall.out_features == 128 and block.dense.rise.out_features == 512


def test_heads_must_divide_the_size():
    says = "^encoder.heads=4 does not divide size=14: .* such as 2 or 7, or any number with encoder.attention.width"
    with pytest.raises(UserError, match=says):
        Transformer(size=14, heads=4)
    with pytest.raises(UserError, match=r"^encoder.attention.groups=3 does not divide heads=4: .* allowed: 1, 2, 4$"):
        Transformer(size=12, heads=4, attention=Heads(groups=3))


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


def test_room_equals_growing():
    """A cache with room, its rows shared and picked again, gives what one that grows gives, also past its room."""
    encoder = build(positions="rotary", size=8, attention=Heads(groups=1))
    x = torch.randn(3, 12, D, dtype=torch.float64)
    mask = torch.arange(3) < torch.tensor([[3], [1], [2]])
    grown, room = encoder.begin(3), encoder.begin(3, capacity=5)
    grown, room = (map_state(s, lambda t: t.double() if t.is_floating_point() else t) for s in (grown, room))
    assert "rows" in room and "rows" not in grown
    with torch.inference_mode():
        one, grown = encoder(x[:, :3], mask, grown)
        two, room = encoder(x[:, :3], mask, room)
        torch.testing.assert_close(one, two)
        for step, rows in enumerate([[2, 2, 0], [1, 0, 0], [0, 1, 2], [0, 2], [1, 0, 1, 1], [3, 3, 3, 0]]):
            picked = torch.tensor(rows)
            grown, room = reorder(grown, picked), reorder(room, picked)
            y = x[:1, 3 + step : 4 + step] + torch.arange(len(rows))[:, None, None]
            alive = torch.arange(len(rows))[:, None] != step % 3 if step else None
            one, grown = encoder(y, alive, grown)
            two, room = encoder(y, alive, room)
            torch.testing.assert_close(one, two)
            assert torch.equal(grown["position"], room["position"])


def test_rows_that_share_are_not_copied():
    encoder = build().float()
    state = encoder(torch.randn(2, 3, D), None, encoder.begin(2, capacity=9))[1]
    before = state["0"]["k"].data_ptr()
    after = reorder(state, torch.tensor([1, 1]))
    assert after["0"]["k"].data_ptr() == before
    assert after["rows"][:, :3].tolist() == [[1] * 3] * 2


def test_attention_maps():
    """Each row of a map sums to one over what a step may see; a window and documents bound it."""
    encoder, x = build(attention=Heads(window=2)), torch.randn(B, T, D, dtype=torch.float64)
    starts = torch.zeros(B, T, dtype=torch.bool)
    starts[:, 3] = True
    maps = encoder.attention(x, starts=starts)
    assert len(maps) == 2 and maps[0].shape == (B, 2, T, T)
    torch.testing.assert_close(maps[1].sum(-1), torch.ones(B, 2, T, dtype=torch.float64))
    seen = {(i, j) for i, j in (maps[0][0, 0] > 0).nonzero().tolist()}
    assert seen == {(i, j) for i in range(T) for j in (i - 1, i) if j >= 0 and (i < 3) == (j < 3)}


def test_both_sides():
    encoder, x = build(causal=False), torch.randn(1, T, D, dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(encoder(x)[0][0, 1].square().sum(), x)
    assert (grad.abs().sum(2) > 0).all()
    with pytest.raises(UserError, match="sees both sides"):
        encoder(x, None, encoder(x)[1])


def test_rotary_knows_only_distances():
    encoder, x = build(positions="rotary", size=8), torch.randn(1, T, D, dtype=torch.float64)
    state = {**encoder.begin(1), "position": torch.tensor([50]), "begun": torch.tensor([50])}
    state = map_state(state, lambda t: t.double() if t.is_floating_point() else t)
    torch.testing.assert_close(encoder(x, None, state)[0], encoder(x)[0])
    with pytest.raises(UserError, match="a head has width 3"):
        build(positions="rotary")


def test_dense_shortcuts_read_all_layers_below():
    encoder, x = build(block=Form(shortcuts="dense"), layers=3), torch.randn(1, T, D, dtype=torch.float64)
    stream = [encoder.widen(x) + encoder.positions(torch.arange(T)[None])]
    for layer, block in enumerate(encoder.blocks):
        below = stream[-1] if layer == 0 else encoder.below[layer - 1](torch.cat(stream, -1))
        stream.append(block(below, Seen(causal=True))[0])
    torch.testing.assert_close(encoder(x)[0], encoder.norm(stream[-1]))


def test_without_biases_there_are_none():
    encoder = build(block=Form(shortcuts="dense", bias=False), layers=3)
    assert not any("bias" in name for name, _ in encoder.named_parameters())


@by_kernels
@pytest.mark.parametrize("few", [8, 2])
@pytest.mark.parametrize(
    "settings", [{}, {"positions": "learnt"}, {"positions": "rotary", "size": 8}, {"block": Form(place="post")}]
)
def test_steps_on_a_gpu_equal_one_pass(settings, few, monkeypatch):
    from foresay.kernels import thin_triton

    monkeypatch.setattr(thin_triton, "FEW", few)
    encoder = build(**settings).float()
    x = torch.randn(3, 9, D)
    mask = torch.arange(4) < torch.tensor([[4], [2], [3]])
    with torch.inference_mode():
        state = encoder.begin(3)
        expected = []
        for part, own in [(x[:, :4], mask), *((x[:, t : t + 1], None) for t in range(4, 9))]:
            y, state = encoder.double()(
                part.double(), own, map_state(state, lambda t: t.double() if t.is_floating_point() else t)
            )
            expected.append(y)
        encoder = encoder.float().to(GPU)
        state, found = encoder.begin(3, capacity=6), []
        for part, own in [(x[:, :4], mask), *((x[:, t : t + 1], None) for t in range(4, 9))]:
            y, state = encoder(part.to(GPU), None if own is None else own.to(GPU), state)
            found.append(y.cpu().double())
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@by_kernels
@pytest.mark.parametrize("rows", [1, 3, 70])  # one, several, many
def test_half_precision_steps_on_a_gpu_are_near_one_pass(rows):
    encoder = build(size=64, heads=4, layers=2, block=Form(activation="gelu-tanh")).float()
    x = torch.randn(rows, 9, D)
    with torch.inference_mode():
        expected = encoder.double()(x.double())[0][:, 4:]
        encoder = encoder.to(GPU, HALF)
        state, found = encoder.begin(rows, capacity=9), []
        for part in [x[:, :4], *(x[:, t : t + 1] for t in range(4, 9))]:
            y, state = encoder(part.to(GPU, HALF), None, state)
            found.append(y.cpu().double())
    error = (torch.cat(found[1:], 1) - expected).square().mean().sqrt()
    assert error < 0.02 * expected.square().mean().sqrt()
