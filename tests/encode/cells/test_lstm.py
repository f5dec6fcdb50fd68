"""One step of the LSTM by hand."""

from __future__ import annotations

import math

import pytest
import torch

from foresay.encode.cells.lstm import LSTM


def test_one_step_by_hand():
    """x = 1, h = 0.5, c = 2; U = 1 and the two biases 0.25 add 1 to each gate, so W = a - 1.

    i = sigmoid(ln 3) = 0.75;  f = sigmoid(0) = 0.5;  c~ = tanh(ln(3) / 2) = 0.5;  o = sigmoid(ln 4) = 0.8
    c' = 0.5 * 2 + 0.75 * 0.5 = 1.375;  h' = 0.8 * tanh(1.375) = 0.703861
    """
    cell = LSTM()
    cell.build(1, 1)
    wanted = torch.tensor([[math.log(3)], [0.0], [math.log(3) / 2], [math.log(4)]])
    quarter = torch.full((4,), 0.25)
    cell.load_state_dict(
        {"weight_ih": wanted - 1, "weight_hh": torch.ones(4, 1), "bias_ih": quarter, "bias_hh": quarter}
    )
    y, after = cell.run(torch.ones(1, 1, 1), {"h": torch.tensor([[0.5]]), "c": torch.tensor([[2.0]])})
    assert after["c"].item() == pytest.approx(1.375, rel=1e-6)
    assert y.item() == after["h"].item() == pytest.approx(0.703861, rel=1e-5)
