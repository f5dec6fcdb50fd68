"""Steps laid into rows and columns and taken back, by hand."""

import torch

from foresay.encode.grid import Pass, windows


def numbered(*rows: list[int]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float)[..., None]


def test_a_whole_picture_stands_a_step_earlier():
    """Two rows of two pixels with two channels; <start> (9) ends the row above."""
    where = Pass(8, columns=2, channels=2, begin=None, mask=None)
    cells = where.cells(numbered([9, 1, 2, 3, 4, 5, 6, 7]), torch.zeros(1, 2, 2, 2))
    assert where.rows == 2
    assert cells.tolist() == [[[[0, 0], [0, 9]], [[1, 2], [3, 4]], [[5, 6], [7, 0]]]]
    features = torch.arange(16.0).view(1, 2, 2, 4)  # two for each channel
    assert where.taken(features).tolist() == [[[2.0 * n, 2.0 * n + 1] for n in range(8)]]
    assert where.kept(cells, 1).tolist() == [[[[5, 6], [7, 0]], [[0, 0], [0, 0]]]]


def test_each_row_begins_at_its_own_place():
    """Three columns: the first has read 3 n + 1 steps, the second 3 n + 2; two steps more, and one."""
    above = torch.tensor([[[[1], [2], [3]], [[0], [0], [0]]], [[[1], [2], [3]], [[4], [0], [0]]]], dtype=torch.float)
    mask = torch.tensor([[True, True], [True, False]])
    where = Pass(2, columns=3, channels=1, begin=torch.tensor([1, 2]), mask=mask)
    assert where.rows == 2
    cells = where.cells(numbered([10, 11], [20, 21]), above)[..., 0]
    assert cells.tolist() == [[[1, 2, 3], [10, 11, 0], [0, 0, 0]], [[1, 2, 3], [4, 20, 0], [0, 0, 0]]]
    features = torch.arange(6.0).view(1, 2, 3, 1).repeat(2, 1, 1, 1)
    assert where.taken(features)[..., 0].tolist() == [[1, 2], [2, 0]]
    # both are at the beginning of a row now: the one that was theirs stands above
    assert where.kept(cells, 1).tolist() == [[[10, 11, 0], [0, 0, 0]], [[4, 20, 0], [0, 0, 0]]]


def test_what_a_pixel_sees():
    """In raster order: a row above, from left to right, then its own row; 0 outside."""
    rows = torch.arange(1.0, 9.0).view(1, 1, 2, 4, 1).repeat(3, 1, 1, 1, 1)
    found = windows(rows, torch.tensor([0, 2, 3]), 1, 1)
    assert found[:, 0, :, 0].tolist() == [[0, 1, 2, 0], [2, 3, 4, 6], [3, 4, 0, 7]]
    assert windows(rows[:, :, 1:], torch.tensor([0, 2, 3]), 0, 2)[:, 0, :, 0].tolist() == [[0, 0], [5, 6], [6, 7]]
