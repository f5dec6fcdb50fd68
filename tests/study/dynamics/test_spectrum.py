"""Spectra of every cell against numpy's eigenvalues of the blocks cut out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from foresay.encode.cells.cell import Cell
from foresay.encode.initial import Initial, begin_weights
from foresay.parts import make, names
from foresay.study.dynamics.spectrum import radius, sort, spectrum

GATES = {
    "elman": ["new"],
    "lstm": ["i", "f", "g", "o"],
    "peephole": ["i", "f", "g", "o", "i<-c", "f<-c", "o<-new_c"],
    "gru": ["z", "r", "n<-rh"],
    "shortcut": ["i<-h@4", "f<-h@4", "g<-h@4", "o<-h@4", "i", "f", "g", "o"],
    "zoneout": ["i", "f", "g", "o"],
    "lru": ["state"],
    "mingru": [],
    "minlstm": [],
}


def built(kind: str, size: int = 5, **more: Any) -> Cell:
    torch.manual_seed(1)
    cell: Cell = make("cell", {"kind": kind} | ({"projection": 3} if kind == "lstm-projected" else {}) | more)
    cell.build(3, size)
    return cell


@pytest.mark.parametrize("kind", names("cell"))
def test_every_cell_has_its_blocks(kind: str):
    found = spectrum(built(kind))
    assert kind not in GATES or list(found) == GATES[kind]
    assert all(len(one) in (3, 5) and one.isfinite().all() for one in found.values())


def numpy_of(block: torch.Tensor) -> torch.Tensor:
    return sort(torch.tensor(np.linalg.eigvals(block.detach().double().numpy())).to(torch.complex128))


def test_blocks_are_the_gates():
    lstm, gru, wide = built("lstm"), built("gru"), built("shortcut", cell="elman", steps=2)
    torch.testing.assert_close(spectrum(lstm)["f"], numpy_of(lstm.get_parameter("weight_hh")[5:10]))
    torch.testing.assert_close(spectrum(gru)["n<-rh"], numpy_of(gru.get_parameter("weight_rh")))
    torch.testing.assert_close(spectrum(wide)["new<-h@2"], numpy_of(wide.get_parameter("weight_h_2")))


def test_of_a_projection_those_of_the_product():
    cell = built("lstm-projected")
    whole = cell.get_parameter("weight_shown") @ cell.get_parameter("weight_hh")[5:10]
    found = spectrum(cell)["f"]
    torch.testing.assert_close(found, numpy_of(whole), atol=1e-6, rtol=1e-6)


def test_of_an_lru_its_parameters():
    cell = built("lru")
    sizes = (-cell.get_parameter("nu").double().exp()).exp()
    torch.testing.assert_close(spectrum(cell)["state"].abs(), sizes.sort(descending=True).values, rtol=1e-5, atol=0)


@torch.no_grad()
def test_a_radius_that_was_asked_for():
    cell = built("lstm")
    begin_weights(cell, Initial(weights="orthogonal", radius=1.25))
    assert [radius(one) for one in spectrum(cell).values()] == pytest.approx([1.25] * 4, rel=1e-5)


def test_the_greatest_comes_first():
    given = torch.tensor([0.5, -0.9, 0.3 - 0.4j, 0.3 + 0.4j], dtype=torch.complex128)
    assert sort(given).tolist() == [-0.9, 0.5, 0.3 + 0.4j, 0.3 - 0.4j]
