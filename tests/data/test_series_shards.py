"""What is written comes back; windows by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from foresay.data.series_form import SeriesForm
from foresay.data.series_shards import SeriesShards, SeriesWriter
from foresay.errors import UserError

NAN = np.nan
FORM = SeriesForm(("a", "b"), (0.0, 0.0), (1.0, 1.0), (0.0, 0.0), (9.0, 9.0), (True, True), (0.0, 0.0))
FIRST = np.array([[1, 2], [3, NAN], [NAN, NAN], [5, 6]], np.float32)
SECOND = np.array([[7, 8], [9, 0]], np.float32)


@pytest.fixture
def shards(tmp_path: Path) -> SeriesShards:
    FORM.save(tmp_path)
    with SeriesWriter(tmp_path / "train", 6) as writer:
        writer.add("x", FIRST, 1)
        writer.add("ü", SECOND, 0)
        assert writer.finish() == 4  # of the first's last three steps one is not known at all
    return SeriesShards(tmp_path / "train")


def test_round_trip(shards: SeriesShards) -> None:
    assert np.array_equal(shards.series(0), FIRST, equal_nan=True) and np.array_equal(shards.series(1), SECOND)
    assert (len(shards), shards.documents, shards.names) == (4, 2, ["x", "ü"])
    assert shards.lengths().tolist() == [4, 2] and shards.begins.tolist() == [1, 0]
    assert (shards.first(0), shards.first(1)) == (0, 4)
    assert shards.meta.characters == 7 and shards.meta.bytes == 28  # known numbers that are predicted


def test_windows(shards: SeriesShards) -> None:
    """What is read is a step behind; steps for context are no targets; a series never sees its neighbour."""
    before, targets = shards.window(0, 0, 3)
    assert np.array_equal(before, [[NAN, NAN], [1, 2], [3, NAN]], equal_nan=True)
    assert np.array_equal(targets, [[NAN, NAN], [3, NAN], [NAN, NAN]], equal_nan=True)
    before, targets = shards.window(0, 2, 4)
    assert np.array_equal(before, [[3, NAN], [NAN, NAN]], equal_nan=True) and targets[1].tolist() == [5, 6]
    before, targets = shards.window(1, 0, 2)
    assert np.array_equal(before, [[NAN, NAN], [7, 8]], equal_nan=True) and np.array_equal(targets, SECOND)


@pytest.mark.parametrize("file", ["values.bin", "ends.bin", "begins.bin", "names.json", "meta.json"])
def test_damage_is_told(shards: SeriesShards, file: str) -> None:
    path = shards.folder / file
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(UserError, match=r"train is damaged; delete .* and prepare again"):
        SeriesShards(shards.folder)
