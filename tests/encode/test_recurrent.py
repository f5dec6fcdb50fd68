"""The recurrent encoder against torch.nn's stacks; its errors; how often time is cut."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresay import parts
from foresay.encode.recurrent import Recurrent
from foresay.errors import UserError

B, T, D = 2, 5, 3


def build(**settings) -> Recurrent:
    torch.manual_seed(1)
    encoder = Recurrent(**settings)
    encoder.build(D)
    return encoder.double().eval()


def copy_from(encoder: Recurrent, peer: nn.Module) -> None:
    """torch.nn's weights, weight_ih_l0_reverse and so on, into the encoder's cells."""
    for layer in range(len(encoder.forwards)):
        for cells, suffix in ((encoder.forwards, ""), (encoder.backwards, "_reverse")):
            for name, parameter in cells[layer].named_parameters() if cells else []:
                parameter.data.copy_(getattr(peer, f"{name}_l{layer}{suffix}"))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_equals_torch_with_packed_rows(bidirectional):
    encoder = build(size=14, layers=2, bidirectional=bidirectional)
    peer = nn.LSTM(D, 7 if bidirectional else 14, 2, batch_first=True, bidirectional=bidirectional).double()
    copy_from(encoder, peer)
    x, lengths = torch.randn(B, T, D, dtype=torch.float64), torch.tensor([3, 5])
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    packed_y, (h, c) = peer(packed)
    expected, _ = nn.utils.rnn.pad_packed_sequence(packed_y, batch_first=True)
    y, state = encoder(x, torch.arange(T) < lengths[:, None])
    torch.testing.assert_close(y, expected)
    ways = 2 if bidirectional else 1
    for layer in range(2):
        for name, value in (("h", h), ("c", c)):
            side_by_side = torch.cat(list(value[ways * layer : ways * (layer + 1)]), 1)
            torch.testing.assert_close(state[str(layer)][name], side_by_side)


@pytest.mark.parametrize("cell", parts.names("cell"))
def test_backwards_equals_forwards_on_flipped_input(cell):
    both, one = build(size=14, bidirectional=True, cell=cell), build(size=7, cell=cell)
    one.forwards[0].load_state_dict(both.backwards[0].state_dict())
    x = torch.randn(B, T, D, dtype=torch.float64)
    torch.testing.assert_close(both(x)[0][..., 7:], one(x.flip(1))[0].flip(1))
    assert not torch.allclose(both(x)[0][..., :7], both(x)[0][..., 7:])


@pytest.mark.parametrize("cell", parts.names("cell"))
def test_plain_switch_changes_nothing(cell, monkeypatch):
    encoder, x = build(size=14, bidirectional=True, cell=cell, layers=2), torch.randn(B, T, D, dtype=torch.float64)
    mask = torch.arange(T) < torch.tensor([[2], [4]])
    fast = encoder(x, mask)[0]
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    torch.testing.assert_close(encoder(x, mask)[0], fast)


def test_time_is_cut_only_where_rows_change(monkeypatch):
    encoder, lengths = build(size=7), []
    cell = encoder.forwards[0]
    run = cell.run
    monkeypatch.setattr(cell, "run", lambda x, state: (lengths.append(x.shape[1]), run(x, state))[1])
    x = torch.randn(3, 9, D, dtype=torch.float64)
    encoder(x)
    assert lengths == [9]
    lengths.clear()
    starts = torch.zeros(3, 9, dtype=torch.bool)
    starts[0, 2] = starts[1, 0] = True
    encoder(x, torch.arange(9) < torch.tensor([[9], [9], [5]]), starts=starts)
    assert lengths == [2, 3, 4]


def test_dropout_only_in_training_and_never_on_the_state():
    encoder, x = build(size=64, dropout=0.5), torch.randn(B, T, D, dtype=torch.float64)
    quiet = encoder(x)[0]
    assert torch.equal(encoder(x)[0], quiet)
    y, state = encoder.train()(x)
    dropped = y == 0
    assert 0.3 < dropped.double().mean() < 0.7
    torch.testing.assert_close(y[~dropped], 2 * quiet[~dropped])
    torch.testing.assert_close(state["0"]["h"], quiet[:, -1])


def test_odd_size_both_ways_is_refused():
    with pytest.raises(UserError, match="size=13 is odd; a bidirectional encoder halves it: pass an even number"):
        Recurrent(size=13, bidirectional=True)


def test_unknown_cell_is_refused():
    with pytest.raises(UserError, match="did you mean 'lstm'"):
        Recurrent(cell="lstmm")


def test_layers_do_not_share_weights():
    encoder = build(size=7, layers=2, cell=parts.make("cell", "elman"))
    assert encoder.forwards[0].weight_hh is not encoder.forwards[1].weight_hh
    assert len(encoder.layers(torch.randn(B, T, D, dtype=torch.float64))) == 2


def test_no_steps():
    y, state = build(size=7)(torch.zeros(B, 0, D, dtype=torch.float64))
    assert y.shape == (B, 0, 7) and state["position"].tolist() == [0, 0]
