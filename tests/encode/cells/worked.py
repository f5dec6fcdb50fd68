"""Small numbers to work cells out with, in numpy: two units, two inputs, two steps, one row."""

from __future__ import annotations

import numpy as np
import torch

from foresay.encode.cells.cell import Cell

X = np.array([[0.5, -1.0], [2.0, 0.25]])  # a step in each row
H0, C0 = np.array([0.3, -0.6]), np.array([-0.4, 0.8])


def sigmoid(a: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-a))


def matrix(seed: int, rows: int = 2, columns: int = 2) -> np.ndarray:
    """Numbers between -0.5 and 0.5 in steps of 0.1, others for every seed."""
    return ((np.arange(rows * columns) * 3 + seed * 4) % 11 - 5).reshape(rows, columns) / 10


def vector(seed: int, rows: int = 2) -> np.ndarray:
    return matrix(seed, rows, 1)[:, 0]


def load(cell: Cell, width: int, size: int, weights: dict[str, np.ndarray]) -> Cell:
    """A cell with these parameters and no others, in float64."""
    cell.build(width, size)
    cell.double().load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in weights.items()})
    return cell.eval()


def run(cell: Cell, **states: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The cell over X from these states: h after every step (T, H), and the states after the last."""
    memory = {name: torch.from_numpy(state)[None] for name, state in states.items()}
    with torch.no_grad():
        y, after = cell.run(torch.from_numpy(X)[None], memory)
    return y[0].numpy(), {name: state[0].numpy() for name, state in after.items()}
