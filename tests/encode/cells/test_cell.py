"""What every cell begins with: its weights and their names, its states, and the inputs' share of the gates."""

from __future__ import annotations

import pytest
import torch

from foresay.encode.cells.cell import Cell, weight_name
from foresay.encode.cells.elman import Elman
from foresay.encode.cells.gru_cudnn import GRUCudnn
from foresay.errors import UserError


def test_weights_fill_the_bound_and_biases_are_zero():
    """Uniform within 1/sqrt(H) has the deviation 1/sqrt(3 H): H = 64 gives 0.125 and 0.0722."""
    torch.manual_seed(1)
    cell = GRUCudnn()
    cell.build(32, 64)
    assert cell.bias_ih is not None and cell.bias_hh is not None
    for weight, shape in ((cell.weight_ih, (192, 32)), (cell.weight_hh, (192, 64))):
        assert weight.shape == shape and weight.abs().max() <= 0.125
        assert weight.std().item() == pytest.approx(0.0722, rel=0.03) and weight.abs().max() > 0.124
    assert (cell.bias_ih == 0).all() and (cell.bias_hh == 0).all()


def test_biases_begin_where_the_cell_says():
    class Kept(Cell):
        gates = ("keep", "new", "out")
        unfed = ("out",)

        def biases(self):
            return {"new": -0.5}

        def step(self, keep, new, out, h):
            return {"h": keep * h + new * out}

    cell = Kept()
    cell.build(2, 2)
    assert cell.bias_ih is not None and cell.bias_ih.tolist() == [0.0, 0.0, -0.5, -0.5]
    cell.biases = lambda: {"out": 1.0}
    with pytest.raises(UserError, match=r"Kept: biases names out; allowed: gates that see x: keep, new$"):
        cell.build(2, 2)


def test_states_begin_at_zero_as_the_input_is():
    cell = Elman()
    cell.build(2, 3)
    (state,) = cell.begin(torch.ones(4, 7, 2, dtype=torch.float64)).values()
    assert state.shape == (4, 3) and state.dtype == torch.float64 and (state == 0).all()


def test_inputs_share_by_hand():
    """x = (1, 2), W = (3, 4), both biases 0.5: 3 + 8 + 1, for all steps before the loop, time first."""
    cell = Elman()
    cell.build(2, 1)
    values = {"weight_ih": [[3.0, 4.0]], "weight_hh": [[9.0]], "bias_ih": [0.5], "bias_hh": [0.5]}
    cell.load_state_dict({name: torch.tensor(value) for name, value in values.items()})
    inputs = cell.inputs(torch.tensor([[[1.0, 2.0], [0.0, 0.0]]]), {"h": torch.ones(1, 1)}, torch.ones(1, 2).bool())
    assert inputs.fed.tolist() == [[[12.0]], [[1.0]]]
    assert inputs.products["state:h"] is cell.weight_hh and inputs.states["h"].tolist() == [[1.0]]
    assert inputs.mask is not None and inputs.mask.shape == (2, 1)


def test_matrices_are_named_after_what_they_multiply():
    assert [weight_name(source) for source in ("state:h", "state:c", "new:c", "value:rh", "state:h@4")] == [
        "weight_hh",
        "weight_c",
        "weight_new_c",
        "weight_rh",
        "weight_h_4",
    ]
