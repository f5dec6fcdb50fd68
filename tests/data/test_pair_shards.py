"""Shards of pairs: both sides and their lines as they were written; damage and long sources are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from foresay.data.pair_shards import PairShards, opened
from foresay.data.row_shards import RowWriter, lengths
from foresay.data.shards import Shards
from foresay.errors import UserError
from foresay.text.tokens import STOP
from tests.data.made import shards_of

SOURCES, TARGETS = [[5, 6, 7], [8], [5, 5]], [[9], [6, 6, 6, 6], [7]]
LINES = [2, 3, 2**40]


def ids(rows: list[list[int]]) -> list[np.ndarray]:
    return [np.array(row, np.uint32) for row in rows]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with RowWriter(tmp_path / "train", 12, source=10) as writer:
        for rows in (slice(0, 2), slice(2, 3)):  # in two blocks
            source = ids(SOURCES[rows]), ["é", "bc", "d"][rows]
            writer.add(LINES[rows], ids(TARGETS[rows]), ["x", "", "中文"][rows], source=source)
        assert writer.finish() == 3
    return tmp_path / "train"


def test_both_sides_are_as_written(folder: Path) -> None:
    shards = PairShards(folder)
    assert shards.lines.tolist() == LINES and shards.documents == shards.source.documents == 3
    flat = [[id for row in rows for id in (*row, STOP)] for rows in (SOURCES, TARGETS)]
    assert shards.source.slice(0, 99).tolist() == flat[0] and shards.slice(0, 99).tolist() == flat[1]
    assert lengths(shards.source).tolist() == [4, 2, 3] and lengths(shards).tolist() == [2, 5, 2]
    assert (shards.source.meta.vocabulary, shards.meta.vocabulary) == (10, 12)


def test_characters_and_bytes_count_the_end_of_each_text(folder: Path) -> None:
    shards = PairShards(folder)
    assert (shards.source.meta.characters, shards.source.meta.bytes) == (4 + 3, 5 + 3)
    assert (shards.meta.characters, shards.meta.bytes) == (3 + 3, 7 + 3)


def test_opened_tells_pairs_from_texts(folder: Path, tmp_path: Path) -> None:
    assert isinstance(opened(folder), PairShards)
    shards_of(tmp_path / "text", [[5, 6]])
    assert type(opened(tmp_path / "text")) is Shards


def test_sides_that_differ_are_damage(folder: Path) -> None:
    np.array([1, 2], "<i8").tofile(folder / "lines.bin")
    with pytest.raises(UserError, match=r"train is damaged: its sides differ; delete .* and prepare again"):
        PairShards(folder)
    (folder / "lines.bin").unlink()
    with pytest.raises(UserError, match="its sides differ"):
        PairShards(folder)


def test_the_longest_source_is_named(folder: Path) -> None:
    shards = PairShards(folder)
    shards.check_lengths("train", 4, "positions")
    shards.check_lengths("train", None, "positions")
    with pytest.raises(UserError, match=r"^train: line 2 has a source of 4 tokens, .*; positions ends at 3: raise it"):
        shards.check_lengths("train", 3, "positions")
    shards.check_lengths("train", 5, "positions", "target")
    with pytest.raises(UserError, match=r"^train: line 3 has a target of 5 tokens, .*; positions ends at 4: raise it"):
        shards.check_lengths("train", 4, "positions", "target")


def test_nothing_written_is_no_pair(tmp_path: Path) -> None:
    with RowWriter(tmp_path / "empty", 6, source=6) as writer:
        assert writer.finish() == 0
