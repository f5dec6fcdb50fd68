"""Segments: where time is cut, worked by hand; and the rows against torch.nn's cell, step by step."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from foresay.encode.cells.lstm import LSTM
from foresay.encode.segments import Rows, find_cuts, flip, flip_starts, read_all, run_backwards, run_segments

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
    ("starts", "expected"),
    [
        (None, [0]),
        (marks([0], []), [0]),
        (marks([0, 3], [5]), [0, 3, 5]),
        (marks([1], [1]), [0, 1]),
    ],
)
def test_cuts_by_hand(starts: Tensor | None, expected: list[int]):
    assert find_cuts(T, starts) == expected


def test_no_steps_no_cuts():
    assert find_cuts(0, marks([], steps=0)) == []
    memory = {"h": torch.ones(2, H)}
    rows = Rows(None, marks([], [], steps=0), [])
    found, after = run_segments(cell_and_peer()[0], torch.zeros(2, 0, D), memory, memory, rows)
    assert found["h"].shape == (2, 0, H) and after is memory


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
    first = {"h": torch.full_like(h, 0.25), "c": torch.full_like(c, -0.5)}
    rows = Rows(mask, starts, find_cuts(T, starts))
    found, after = run_segments(cell, x, {"h": h, "c": c}, first, rows)
    y = found["h"]
    for row in range(B):
        state = h[row], c[row]
        for t in range(T):
            if mask is not None and not mask[row, t]:
                assert (y[row, t] == 0).all()
                continue
            if starts is not None and starts[row, t]:
                state = first["h"][row], first["c"][row]
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


def test_all_is_read_in_the_places_of_the_input():
    """Backwards, three documents and padding: the gates of a step are those of torch's cell at that step."""
    cell, peer = cell_and_peer()
    x, mask = torch.randn(2, T, D, dtype=torch.float64), lengths(6, 4)
    starts = marks([2, 4], [1])
    first = cell.begin(x)
    found, _ = run_backwards(cell, x, first, Rows(mask, starts, find_cuts(T, starts)), read_all)
    assert set(found) == {"h", "c", "i", "f", "g", "o"}
    for row, documents in enumerate([[(0, 2), (2, 4), (4, 6)], [(0, 1), (1, 4)]]):
        for begin, end in documents:
            state = first["h"][row], first["c"][row]
            for t in reversed(range(begin, end)):
                gates = peer.weight_ih @ x[row, t] + peer.bias_ih + peer.weight_hh @ state[0] + peer.bias_hh
                torch.testing.assert_close(found["f"][row, t], gates[H : 2 * H].sigmoid())
                state = peer(x[row, t], state)
                torch.testing.assert_close(found["h"][row, t], state[0])
                torch.testing.assert_close(found["c"][row, t], state[1])
    assert all((value[1, 4:] == 0).all() for value in found.values())
