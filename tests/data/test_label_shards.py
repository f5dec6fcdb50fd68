"""Labels on disk: their order, what is read back, what is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from foresay.data.label_shards import LABELS, LabelSet, LabelShards, LabelWriter, in_order
from foresay.data.pair_shards import opened
from foresay.data.strange import StrangeWriter
from foresay.errors import UserError
from foresay.parts import make


def test_numbers_are_ordered_by_size() -> None:
    assert in_order(["10", "9", "-1"]) == ["-1", "9", "10"]
    assert in_order(["10", "9", "b"]) == ["10", "9", "b"]


def wrote(several: bool, labels: list[list[int]]) -> LabelShards:
    LabelSet(("a", "b", "c"), several, (1, 1, 0)).save(Path())
    writer = LabelWriter(Path("train"), 9)
    ids = [np.array([5, 6], np.uint32), np.array([7], np.uint32)]
    with writer:
        writer.add([2, 4], ids, ["x y", "ü"])
        writer.numbers += labels
        assert writer.finish() == 2
    StrangeWriter(make("tokens", "blanks")).save(Path("train"))
    shards = opened(Path("train"))
    assert isinstance(shards, LabelShards)
    return shards


def test_what_was_written_is_read() -> None:
    shards = wrote(False, [[1], [0]])
    assert shards.labels == LabelSet(("a", "b", "c"), False, (1, 1, 0))
    assert shards.slice(0, 9).tolist() == [5, 6, 3, 7, 3] and shards.lines.tolist() == [2, 4]
    assert shards.labels_of(np.array([1, 0, 1])).tolist() == [0, 1, 0]
    assert (shards.characters, shards.bytes) == (3 + 1 + 2, 3 + 2 + 2)


def test_several_are_zeros_and_ones() -> None:
    shards = wrote(True, [[2, 0], []])
    assert shards.labels_of(np.array([1, 0])).tolist() == [[0, 0, 0], [1, 0, 1]]


@pytest.mark.parametrize("name", ["labels.bin", "label_ends.bin", "lines.bin"])
def test_a_file_cut_short_is_refused(name: str) -> None:
    wrote(False, [[1], [0]])
    path = Path("train", name)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(UserError, match=r"texts and labels differ; delete \. and prepare again"):
        LabelShards(Path("train"))


@pytest.mark.parametrize("content", ["{}", "[", '{"names": [1], "several": false, "counts": [1]}'])
def test_damaged_names_are_refused(content: str) -> None:
    Path(LABELS).write_text(content)
    with pytest.raises(UserError, match=r"labels\.json is damaged; copy it again"):
        LabelSet.read(Path())
    Path(LABELS).unlink()
    with pytest.raises(UserError, match=r"labels\.json is missing"):
        LabelSet.read(Path())
