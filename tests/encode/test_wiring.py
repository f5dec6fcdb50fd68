"""Wiring between layers: each kind written out over the encoder's own cells, and its refusals."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from foresay.encode.recurrent import Recurrent
from foresay.encode.wiring import Wiring
from foresay.errors import UserError

B, T, D, H = 2, 5, 3, 7


def build(wiring: str, in_width: int = D, **settings) -> Recurrent:
    torch.manual_seed(1)
    encoder = Recurrent(**({"size": H, "layers": 3, "cell": "gru", "between": {"wiring": wiring}} | settings))
    encoder.build(in_width)
    return encoder.double().eval()


def inputs(width: int = D) -> Tensor:
    torch.manual_seed(2)
    return torch.randn(B, T, width, dtype=torch.float64)


def layer(encoder: Recurrent, index: int, x: Tensor) -> Tensor:
    cell = encoder.forwards[index]
    return cell.run(x, cell.begin(x))[0]


def test_residual_adds_the_input_through_a_matrix_where_widths_differ():
    encoder, x = build("residual"), inputs()
    matrix = encoder.wiring.passes[0]
    assert isinstance(matrix, nn.Linear) and matrix.bias is None and matrix.weight.shape == (H, D)
    one = layer(encoder, 0, x) + x @ matrix.weight.T
    two = layer(encoder, 1, one) + one
    three = layer(encoder, 2, two) + two
    for found, expected in zip(encoder.layers(x), (one, two, three), strict=True):
        torch.testing.assert_close(found, expected)
    assert [isinstance(way, nn.Identity) for way in encoder.wiring.passes] == [False, True, True]


def test_residual_of_equal_widths_has_no_matrix():
    encoder, x = build("residual", H, layers=1), inputs(H)
    torch.testing.assert_close(encoder(x)[0], layer(encoder, 0, x) + x)
    assert not list(encoder.wiring.parameters())


def test_highway_chooses_between_output_and_input():
    encoder, x = build("highway", H, layers=2), inputs(H)
    for index in range(2):
        gate = encoder.wiring.gates[index]
        assert (gate.bias == -1).all()
        t = (x @ gate.weight.T + gate.bias).sigmoid()
        x = t * layer(encoder, index, x) + (1 - t) * x
    torch.testing.assert_close(encoder(inputs(H))[0], x)


def test_skip_shows_every_layer_the_input():
    encoder, x = build("skip"), inputs()
    one = layer(encoder, 0, x)
    two = layer(encoder, 1, torch.cat([one, x], 2))
    torch.testing.assert_close(encoder(x)[0], layer(encoder, 2, torch.cat([two, x], 2)))
    assert [cell.weight_ih.shape[1] for cell in encoder.forwards] == [D, H + D, H + D] and encoder.width == H


def test_dense_shows_every_layer_all_below_it():
    encoder, x = build("dense"), inputs()
    one = layer(encoder, 0, x)
    two = layer(encoder, 1, torch.cat([one, x], 2))
    torch.testing.assert_close(encoder(x)[0], layer(encoder, 2, torch.cat([two, one, x], 2)))
    assert [cell.weight_ih.shape[1] for cell in encoder.forwards] == [D, H + D, 2 * H + D]


def test_both_ways_and_narrow_outputs_are_joined_by_width():
    """Two ways of 7 give 14; a projection to 4 gives 8: the next layer sees 8 and the input's 3."""
    cells = ["lstm", {"kind": "lstm-projected", "projection": 4}, "lstm"]
    encoder = build("skip", size=14, layers=1, cells=cells, cell="lstm", bidirectional=True)
    assert [cell.weight_ih.shape[1] for cell in encoder.backwards] == [3, 14 + 3, 8 + 3]
    assert encoder(inputs())[0].shape == (B, T, 14)


def test_fed_adds_what_fed_the_layer_below():
    """The second layer reads h_1 + W x, the third h_2 + h_1; what each layer gives is its own."""
    encoder, x = build("fed"), inputs()
    first, second = encoder.wiring.passes
    assert isinstance(first, nn.Linear) and first.weight.shape == (H, D) and isinstance(second, nn.Identity)
    one = layer(encoder, 0, x)
    two = layer(encoder, 1, one + x @ first.weight.T)
    for found, expected in zip(encoder.layers(x), (one, two, layer(encoder, 2, two + one)), strict=True):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("wiring", ["residual", "highway"])
def test_padding_stays_zero_whatever_stands_there(wiring):
    encoder, mask = build(wiring), torch.arange(T) < torch.tensor([[3], [5]])
    y = encoder(inputs() + 1, mask)[0]
    assert (y[~mask] == 0).all() and (y[mask] != 0).any()


def test_dropout_comes_before_what_is_added():
    """With all dropped but a little, what is left is the input itself."""
    encoder, x = build("residual", H, layers=1, dropout=0.9).train(), inputs(H)
    y = encoder(x)[0]
    assert 0.75 < (y == x).double().mean() < 1.0


@pytest.mark.parametrize("wiring", ["skip", "dense", "fed"])
def test_one_layer_has_nothing_to_join(wiring):
    with pytest.raises(UserError, match=f"wiring={wiring} joins layers and there is one: pass layers=2 or more"):
        build(wiring, layers=1)


def test_unknown_wiring_is_refused():
    with pytest.raises(UserError, match=r"between\.wiring='rezidual'; allowed: one of none, residual, skip, dense"):
        build("rezidual")


def test_no_wiring_has_no_parameters():
    wiring = Wiring("none", 1)
    wiring.build(3)
    wiring.add(5)
    assert wiring.in_width == 5 and not list(wiring.parameters())
