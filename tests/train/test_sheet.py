"""Contact sheets, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from foresay.train.sheet import GAP, GREY, enlarged, enlargement, sheet, sheet_of, squared, write_image


def picture(value: int, rows: int = 32, columns: int = 16, channels: int = 1) -> np.ndarray:
    return np.full((rows, columns, channels), value, np.uint8)


def test_small_pictures_are_enlarged_and_large_ones_stay() -> None:
    assert [enlargement(picture(0, *size)) for size in ((8, 8), (28, 28), (12, 7), (65, 2), (1, 1))] == [8, 2, 5, 1, 64]
    two = np.array([[[1], [2]]], np.uint8)
    assert enlarged(two, 2)[..., 0].tolist() == [[1, 1, 2, 2], [1, 1, 2, 2]]


def test_rows_and_gaps_by_hand() -> None:
    whole = sheet([[picture(1), picture(2)], [picture(3)]])[..., 0]
    assert whole.shape == (2 * (64 + GAP) + GAP, 2 * (32 + GAP) + GAP)
    assert (whole[GAP : GAP + 64, GAP : GAP + 32] == 1).all()
    assert (whole[GAP : GAP + 64, 2 * GAP + 32 : 2 * GAP + 64] == 2).all()
    assert (whole[2 * GAP + 64 : 2 * GAP + 128, GAP : GAP + 32] == 3).all()
    assert (whole == GREY).sum() == whole.size - 3 * 64 * 32  # the gaps, and where a row has fewer


def test_rows_that_have_names() -> None:
    """Left of the same sheet, each name in its own row, black on white."""
    plain, named = (sheet([[picture(1)], [picture(2)], [picture(3)]], names) for names in ((), ("seven", "", "8")))
    margin = named.shape[1] - plain.shape[1]
    assert margin > 20 and np.array_equal(named[:, margin:], plain)
    dark = [int((named[row * 66 : row * 66 + 66, :margin] < 100).sum()) for row in range(3)]
    assert dark[0] > dark[2] > 5 and dark[1] == 0
    colours = sheet([[picture(1, channels=3)]], ["a"])
    assert colours.shape[2] == 3 and (colours[0, 0] == 255).all()


def test_a_row_for_each_label() -> None:
    both = sheet_of({"a": [picture(1)], "b": [picture(2)]})
    assert both.shape[0] == 2 * 66 + GAP and both.shape[1] > 34 + GAP
    assert np.array_equal(sheet_of({None: [picture(1)] * 4}), sheet([[picture(1)] * 2] * 2))


def test_about_as_many_rows_as_columns() -> None:
    found = {n: [len(row) for row in squared([picture(0)] * n)] for n in (1, 2, 5, 16)}
    assert found == {1: [1], 2: [2], 5: [3, 2], 16: [4, 4, 4, 4]}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    for channels in (1, 3):
        image = np.arange(2 * 5 * channels, dtype=np.uint8).reshape(2, 5, channels)
        write_image(tmp_path / "a.png", image)
        read = np.asarray(Image.open(tmp_path / "a.png"))
        assert read.tolist() == (image[..., 0] if channels == 1 else image).tolist()
