"""Dilated stacks against torch's convolutions, their receptive fields by gradient, and writing step by step."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F

from foresay import parts
from foresay.encode.dilated import Dilated
from foresay.encode.encoder import map_state
from foresay.encode.taps import Taps
from foresay.errors import UserError

B, T, D, H = 2, 23, 3, 7


def build(**settings: Any) -> Dilated:
    torch.manual_seed(1)
    encoder = Dilated(**{"size": H, **settings})
    encoder.build(D)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return encoder.double().eval()


def inputs(rows: int = B, steps: int = T) -> torch.Tensor:
    torch.manual_seed(2)
    return torch.randn(rows, steps, D, dtype=torch.float64)


def convolved(taps: Taps, x: torch.Tensor) -> torch.Tensor:
    """By torch, x (B, D, T)."""
    weight = taps.weight.view(len(taps.weight), taps.kernel, -1).transpose(1, 2)
    return F.conv1d(F.pad(x, (taps.span, 0)), weight, taps.bias, dilation=taps.dilation)


def one_by_one(layer: torch.nn.Linear, x: torch.Tensor) -> torch.Tensor:
    return F.conv1d(x, layer.weight[..., None], layer.bias)


def test_gated_blocks_are_wavenets():
    encoder, x = build(dilations=[1, 2, 4], repeat=2, skip=5), inputs()
    h, skips = one_by_one(encoder.widen, x.transpose(1, 2)), torch.zeros(())
    for level, block in enumerate(encoder.blocks):
        a, g = convolved(block.taps, h).chunk(2, 1)
        z = torch.tanh(a) * torch.sigmoid(g)
        own = encoder.skips.weight[:, level * H : (level + 1) * H]
        skips = skips + torch.einsum("sh,bht->bst", own, z)
        if block.onward is not None:
            h = h + one_by_one(block.onward, z)
    skips = skips + encoder.skips.bias[:, None]
    due = F.relu(one_by_one(encoder.head, F.relu(skips)))
    torch.testing.assert_close(encoder(x)[0], due.transpose(1, 2))
    assert encoder.width == 5 and [one.dilation for one in encoder.taps] == [1, 2, 4, 1, 2, 4]


def test_residual_blocks_are_tcns():
    encoder, x = build(dilations=[1, 2, 4], kernel=3, block="residual"), inputs()
    h = one_by_one(encoder.widen, x.transpose(1, 2))
    for block in encoder.blocks:
        inner = F.relu(convolved(block.first, h))
        h = F.relu(h + F.relu(convolved(block.second, inner)))
    torch.testing.assert_close(encoder(x)[0], h.transpose(1, 2))


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"dilations": [1]}, 2),
        ({"dilations": [1, 2, 4]}, 8),
        ({"dilations": [1, 1, 1], "kernel": 3}, 7),
        ({"dilations": [1, 2], "repeat": 3}, 10),
        ({"dilations": [1, 2, 4], "block": "residual"}, 15),
        ({"dilations": [3, 1], "kernel": 3, "block": "residual"}, 17),
    ],
)
def test_receptive_field_by_gradient(settings, field):
    """Every step of it counts, and none before."""
    encoder, x = build(**settings), inputs(16).requires_grad_()  # of some rows ReLU hides what they saw
    (grad,) = torch.autograd.grad(encoder(x)[0][:, -1].square().sum(), x)
    seen = (grad.abs().sum((0, 2)) > 0).tolist()
    assert encoder.receptive_field == field and seen == [False] * (T - field) + [True] * field


def test_both_sides_are_seen_alike():
    encoder, x = build(dilations=[1, 2], kernel=3, causal=False), inputs(1).requires_grad_()
    (grad,) = torch.autograd.grad(encoder(x)[0][0, 10].square().sum(), x)
    seen = [place for place, one in enumerate(grad[0].abs().sum(1)) if one > 0]
    assert seen == list(range(7, 14)) and encoder.receptive_field == 7


@pytest.mark.parametrize("block", ["gated", "residual"])
def test_rings_go_on_one_step_at_a_time(block):
    """Begun with a capacity, after a prompt of ragged rows; a masked step leaves its row."""
    encoder, x = build(dilations=[1, 4, 2], block=block), inputs()
    state = map_state(encoder.begin(B, capacity=T), lambda t: t.double() if t.is_floating_point() else t)
    lengths = torch.tensor([6, 3])
    mask = torch.arange(6) < lengths[:, None]
    _, state = encoder(x[:, :6], mask, state)
    rings = state["past"].data_ptr()
    rows, real = [[], []], torch.tensor([[True], [False]])
    for step in range(9):
        now = None if step != 4 else real
        following = torch.stack([x[row, lengths[row] + step - (step > 4) * row] for row in range(B)])[:, None]
        y, state = encoder(following, now, state)
        for row in range(B):
            if now is None or now[row]:
                rows[row].append(y[row])
            else:
                assert (y[row] == 0).all()
    for row in range(B):
        whole = encoder(x[row : row + 1, : lengths[row] + len(rows[row])])[0][0]
        torch.testing.assert_close(torch.cat(rows[row]), whole[lengths[row] :])
    assert state["past"].data_ptr() == rings
    assert state["position"].tolist() == [15, 11]


@pytest.mark.parametrize("block", ["gated", "residual"])
@pytest.mark.parametrize("local", [False, True])
def test_a_condition_is_added_before_the_gate(block, local):
    """V_l c of the row or of each step: in a pass, in chunks and step by step."""
    encoder, x, width = Dilated(size=H, dilations=[1, 2], block=block), inputs(), 5
    encoder.condition_width = width
    encoder.build(D)
    encoder.double().eval()
    condition = torch.randn(B, T, width, dtype=torch.float64) if local else torch.randn(B, width, dtype=torch.float64)
    each = condition if local else condition[:, None].expand(B, T, width)
    h = one_by_one(encoder.widen, x.transpose(1, 2))
    for level, one in enumerate(encoder.blocks):
        first = convolved(one.taps if block == "gated" else one.first, h)
        first = first + torch.einsum("oc,btc->bot", encoder.given.weight.view(2, -1, width)[level], each)
        if block == "gated":
            a, g = first.chunk(2, 1)
            if level == 0:
                h = h + one_by_one(one.onward, torch.tanh(a) * torch.sigmoid(g))
        else:
            h = F.relu(h + F.relu(convolved(one.second, F.relu(first))))
    whole = encoder(x, condition=condition)[0]
    torch.testing.assert_close(encoder.layers(x, condition=condition)[-1 if block == "residual" else 0], h.mT)
    state, found = map_state(encoder.begin(B, T), lambda t: t.double() if t.is_floating_point() else t), []
    for begin, end in [(0, 4), *((step, step + 1) for step in range(4, T))]:
        now = condition[:, begin:end] if local else condition
        y, state = encoder(x[:, begin:end], None, state, condition=now)
        found.append(y)
    torch.testing.assert_close(torch.cat(found, 1), whole)


def test_a_condition_that_does_not_fit():
    encoder, x = build(), inputs()
    with pytest.raises(UserError, match=r"takes no condition; set encoder.condition_width before build"):
        encoder(x, condition=torch.zeros(B, 3))
    encoder = Dilated(size=H)
    encoder.condition_width = 3
    encoder.build(D)
    with pytest.raises(UserError, match=r"was built for a condition; pass condition \(B, 3\)"):
        encoder(x.float())
    with pytest.raises(UserError, match=r"condition is \(2, 4\); allowed: \(2, 3\)"):
        encoder(x.float(), condition=torch.zeros(B, 4))


def test_layers_are_the_blocks_outputs():
    encoder, x = build(dilations=[1, 2, 4]), inputs()
    layers = encoder.layers(x)
    assert len(layers) == 3 and torch.equal(layers[-1], encoder(x)[0])
    torch.testing.assert_close(layers[0], encoder.blocks[0](encoder.widen(x), lambda taps, x: taps(x))[0])


def test_the_state_of_a_step_does_not_grow():
    encoder = build(dilations=[1, 2, 4, 8])
    assert {name: tuple(tensor.shape[1:]) for name, tensor in encoder.begin(1, 100).items()} == {
        "position": (), "rings": (0,), "past": (15, H),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": 1}, r"encoder.kernel=1 sees no other step; allowed: 2 or more"),
        ({"dilations": []}, r"encoder.dilations=\[\]; allowed: one integer > 0 for each block, such as \[1, 2, 4\]"),
        ({"dilations": [1, 0]}, r"encoder.dilations=\[1, 0\]; allowed: one integer > 0"),
        ({"skip": 4, "block": "residual"}, r"encoder.skip=4: residual blocks have no skips; leave it out, or set"),
        ({"block": "dense"}, r"encoder.block='dense'; allowed: one of gated, residual"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(UserError, match=message):
        parts.make("encoder", {"kind": "dilated", **settings})
