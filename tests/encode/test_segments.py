"""Segments: where time is cut, worked by hand; and the rows against torch.nn's cell, step by step."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from foresay.encode.cells.lstm import LSTM
from foresay.encode.segments import find_cuts, flip, flip_starts, run_segments

B, T, D, H = 4, 6, 3, 5


def lengths(*real: int, steps: int = T) -> Tensor:
    """The mask of rows with so many real steps."""
    return torch.arange(steps) < torch.tensor(real)[:, None]


def marks(*rows: list[int], steps: int = T) -> Tensor:
    """A bool of rows with the given columns set."""
    found = torch.zeros(len(rows), steps, dtype=torch.bool)
    for row, columns in enumerate(rows):
        found[row, columns] = True
    return found


@pytest.mark.parametrize(
    ("mask", "starts", "expected"),
    [
        (None, None, [0]),
        (lengths(6, 6), None, [0]),
        (lengths(6, 2, 4, 0), None, [0, 2, 4]),  # a row without steps has ended before the first
        (None, marks([0], []), [0]),
        (None, marks([0, 3], [5]), [0, 3, 5]),
        (lengths(6, 4), marks([1], [1]), [0, 1, 4]),
        (lengths(6, 4), marks([4], []), [0, 4]),
    ],
)
def test_cuts_by_hand(mask: Tensor | None, starts: Tensor | None, expected: list[int]):
    assert find_cuts(T, mask, starts) == expected


def test_no_steps_no_cuts():
    assert find_cuts(0, lengths(0, steps=0), marks([], steps=0)) == []
    memory = {"h": torch.ones(2, H)}
    y, after = run_segments(cell_and_peer()[0], torch.zeros(2, 0, D), memory, None, None, [])
    assert y.shape == (2, 0, H) and after is memory


def cell_and_peer() -> tuple[LSTM, nn.LSTMCell]:
    """The same weights in Foresay's cell and torch's."""
    torch.manual_seed(1)
    cell, peer = LSTM(), nn.LSTMCell(D, H).double()
    cell.build(D, H)
    cell.double().load_state_dict(peer.state_dict())
    return cell, peer


@pytest.mark.parametrize("plain", ["0", "1"])
@pytest.mark.parametrize("starts", [None, marks([0, 2], [3], [], [5])])
@pytest.mark.parametrize("mask", [None, lengths(6, 4, 0, 1)])
def test_rows_are_torchs_cell_step_by_step(mask, starts, plain, monkeypatch):
    """Begun anew where a document starts, unchanged after a row has ended."""
    monkeypatch.setenv("FORESAY_PLAIN", plain)
    cell, peer = cell_and_peer()
    if mask is not None and starts is not None:
        starts = starts & mask
    x = torch.randn(B, T, D, dtype=torch.float64)
    h, c = torch.randn(B, H, dtype=torch.float64), torch.randn(B, H, dtype=torch.float64)
    y, after = run_segments(cell, x, {"h": h, "c": c}, mask, starts, find_cuts(T, mask, starts))
    for row in range(B):
        state = h[row], c[row]
        for t in range(T):
            if mask is not None and not mask[row, t]:
                assert (y[row, t] == 0).all()
                continue
            if starts is not None and starts[row, t]:
                state = torch.zeros_like(state[0]), torch.zeros_like(state[1])
            state = peer(x[row, t], state)
            torch.testing.assert_close(y[row, t], state[0])
        torch.testing.assert_close(after["h"][row], state[0])
        torch.testing.assert_close(after["c"][row], state[1])


def test_flip_by_hand():
    x, mask = torch.tensor([[1, 2, 3, 9], [4, 9, 9, 9], [9, 9, 9, 9]]), lengths(3, 1, 0, steps=4)
    assert flip(x, mask).tolist() == [[3, 2, 1, 9], [4, 9, 9, 9], [9, 9, 9, 9]]
    assert flip(x, None).tolist() == [[9, 3, 2, 1], [9, 9, 9, 4], [9, 9, 9, 9]]


def test_flip_is_its_own_inverse_for_vectors():
    x, mask = torch.randn(3, 5, 2), lengths(5, 3, 0, steps=5)
    there = flip(x, mask)
    assert torch.equal(there[1, 0], x[1, 2]) and torch.equal(flip(there, mask), x)


def test_starts_backwards_by_hand():
    """Documents 0-1 and 2-4: backwards 4 3 2 | 1 0, so the second begins at step 3; with four real steps at step 2."""
    starts = marks([0, 2], steps=5)
    assert flip_starts(starts, None).tolist() == marks([3], steps=5).tolist()
    assert flip_starts(starts, lengths(4, steps=5)).tolist() == marks([2], steps=5).tolist()
