"""One step of cuDNN's GRU by hand: where it differs from the lecture's."""

from __future__ import annotations

import math

import pytest
import torch

from foresay.encode.cells.gru_cudnn import GRUCudnn


@pytest.mark.parametrize("plain", ["0", "1"])
def test_one_step_by_hand(plain: str, monkeypatch: pytest.MonkeyPatch):
    """x = 1, h = 0.5, U = 1, c = 0.5 for each gate: h U + c = 1.

    r = sigmoid(ln 4) = 0.8;  z = sigmoid(ln 3) = 0.75
    h~ = tanh(0.1 + r * 1) = tanh(0.9) = 0.716298      reset before the product would give tanh(1)
    h' = 0.25 * 0.716298 + 0.75 * 0.5 = 0.554074       z keeps
    """
    monkeypatch.setenv("FORESAY_PLAIN", plain)
    cell = GRUCudnn()
    cell.build(1, 1)
    inputs = torch.tensor([[math.log(4) - 1], [math.log(3) - 1], [0.1]])
    values = {"weight_ih": inputs, "weight_hh": torch.ones(3, 1), "bias_ih": torch.zeros(3)}
    cell.load_state_dict(values | {"bias_hh": torch.full((3,), 0.5)})
    y, _ = cell.run(torch.ones(1, 1, 1), {"h": torch.tensor([[0.5]])})
    assert y.item() == pytest.approx(0.554074, rel=1e-5)
