"""The recurrent encoder against torch.nn's stacks; its errors; how often time is cut."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresay import parts
from foresay.encode.recurrent import Recurrent
from foresay.errors import UserError
from tests.contracts.settings import described, label

B, T, D = 2, 5, 3
every_cell = pytest.mark.parametrize("cell", described("cell"), ids=label)


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


@every_cell
def test_backwards_equals_forwards_on_flipped_input(cell):
    both, one = build(size=14, bidirectional=True, cell=cell), build(size=7, cell=cell)
    one.forwards[0].load_state_dict(both.backwards[0].state_dict())
    x, half = torch.randn(B, T, D, dtype=torch.float64), one.width
    torch.testing.assert_close(both(x)[0][..., half:], one(x.flip(1))[0].flip(1))
    assert not torch.allclose(both(x)[0][..., :half], both(x)[0][..., half:])


@every_cell
def test_plain_switch_changes_nothing(cell, monkeypatch):
    encoder, x = build(size=14, bidirectional=True, cell=cell, layers=2), torch.randn(B, T, D, dtype=torch.float64)
    mask = torch.arange(T) < torch.tensor([[2], [4]])
    fast = encoder(x, mask)[0]
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    torch.testing.assert_close(encoder(x, mask)[0], fast)


def test_time_is_cut_only_where_documents_start(monkeypatch):
    encoder, lengths = build(size=7), []
    cell = encoder.forwards[0]
    run = cell.run
    monkeypatch.setattr(cell, "run", lambda x, state, mask: (lengths.append(x.shape[1]), run(x, state, mask))[1])
    x = torch.randn(3, 9, D, dtype=torch.float64)
    encoder(x)
    assert lengths == [9]
    lengths.clear()
    starts = torch.zeros(3, 9, dtype=torch.bool)
    starts[0, 2] = starts[1, 0] = True
    encoder(x, torch.arange(9) < torch.tensor([[9], [9], [5]]), starts=starts)
    assert lengths == [2, 7]


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


PROJECTED = {"kind": "lstm-projected", "projection": 3}


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_narrower_output_fits_in_a_stack(bidirectional):
    """Two layers of 14 (7 each way) whose output is 3 wide each way: against torch.nn.LSTM with proj_size."""
    encoder = build(size=14, layers=2, cell=PROJECTED, bidirectional=bidirectional)
    ways = 2 if bidirectional else 1
    assert encoder.width == 3 * ways and encoder.forwards[1].weight_ih.shape == (4 * 14 // ways, 3 * ways)
    peer = nn.LSTM(D, 14 // ways, 2, batch_first=True, bidirectional=bidirectional, proj_size=3).double()
    for layer in range(2):
        for cells, suffix in ((encoder.forwards, ""), (encoder.backwards, "_reverse")):
            for name, parameter in cells[layer].named_parameters() if cells else []:
                theirs = {"weight_shown": "weight_hr"}.get(name, name)
                parameter.data.copy_(getattr(peer, f"{theirs}_l{layer}{suffix}"))
                if name == "bias_ih":
                    parameter.data.add_(getattr(peer, f"bias_hh_l{layer}{suffix}"))
    x = torch.randn(B, T, D, dtype=torch.float64)
    expected, (h, c) = peer(x)
    y, state = encoder(x)
    torch.testing.assert_close(y, expected)
    torch.testing.assert_close(state["1"]["h"], torch.cat(list(h[ways:]), 1))
    torch.testing.assert_close(state["0"]["c"], torch.cat(list(c[:ways]), 1))


def test_each_layer_may_have_its_own_cell():
    encoder = build(size=7, cells=["lstm", PROJECTED, "gru"])
    assert [cell.part_name for cell in encoder.forwards] == ["lstm", "lstm-projected", "gru"]
    torch.testing.assert_close(encoder(build_input())[0], run_apart(encoder, build_input()))
    assert parts.describe(encoder)["cells"][1]["projection"] == 3


def build_input() -> torch.Tensor:
    torch.manual_seed(5)
    return torch.randn(B, T, D, dtype=torch.float64)


def run_apart(encoder: Recurrent, x: torch.Tensor) -> torch.Tensor:
    for cell in encoder.forwards:
        x = cell.run(x, cell.begin(x))[0]
    return x


def test_layers_and_cells_that_disagree_are_refused():
    with pytest.raises(UserError, match="layers=3, but cells has 2: leave layers out, or give as many cells"):
        Recurrent(layers=3, cells=["lstm", "gru"])
    assert len(Recurrent(layers=2, cells=["lstm", "gru"]).forwards) == 2


def test_locked_dropout_has_one_mask_for_all_steps():
    encoder, x = build(size=64, dropout=0.5, between={"locked": True}), build_input()
    quiet = encoder(x)[0]
    y = encoder.train()(x)[0]
    dropped = y == 0
    assert (dropped == dropped[:, :1]).all() and 0.3 < dropped.double().mean() < 0.7
    assert not torch.equal(dropped[0], dropped[1])
    torch.testing.assert_close(y[~dropped], 2 * quiet[~dropped])


def test_trace_by_name():
    """Gates and states of both layers and ways; h is the output, and f of the LSTM that torch computes."""
    encoder, x = build(size=14, layers=2, bidirectional=True), build_input()
    mask = torch.arange(T) < torch.tensor([[3], [5]])
    found = encoder.trace(x, mask)
    names = {f"{layer}.{name}{way}" for layer in "01" for name in "hcifgo" for way in ("", ".back")}
    assert set(found) == names and all(value.shape == (B, T, 7) for value in found.values())
    y, state = encoder(x, mask)
    torch.testing.assert_close(torch.cat([found["1.h"], found["1.h.back"]], 2), y)
    torch.testing.assert_close(found["0.c"][0, 2], state["0"]["c"][0, :7])
    torch.testing.assert_close(found["0.c.back"][:, 0], state["0"]["c"][:, 7:])
    cell = encoder.forwards[0]
    first = (x[:, 0] @ cell.weight_ih.T + cell.bias())[:, 7:14].sigmoid()
    torch.testing.assert_close(found["0.f"][:, 0], first)
    assert (found["0.f"][0, 3:] == 0).all()


def test_trace_goes_on_from_a_state_and_begins_anew():
    encoder, x = build(size=7, cell="gru"), build_input()
    whole = encoder.trace(x)
    state = encoder(x[:, :2])[1]
    torch.testing.assert_close(encoder.trace(x[:, 2:], None, state)["0.z"], whole["0.z"][:, 2:])
    starts = torch.zeros(B, T, dtype=torch.bool)
    starts[:, 3] = True
    torch.testing.assert_close(encoder.trace(x, starts=starts)["0.z"][:, 3:], encoder.trace(x[:, 3:])["0.z"])
