"""Rows on disk: what was written is read back with its lines, numbers are found where a file is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from foresay.data.row_shards import RowShards, RowWriter, documents, lengths, numbers
from foresay.errors import UserError
from foresay.text.tokens import STOP


def wrote() -> RowShards:
    with RowWriter(Path("train"), 20) as writer:
        writer.add([3, 8], [np.array([5, 6], np.uint32), np.array([7], np.uint32)], ["é", "\ud800"])
        assert writer.finish() == 2
    return RowShards(Path("train"))


def test_documents_lengths_and_lines() -> None:
    shards = wrote()
    assert lengths(shards).tolist() == [3, 2] and shards.lines.tolist() == [3, 8]
    assert [one.tolist() for one in documents(shards, np.array([1, 0]))] == [[7, STOP], [5, 6, STOP]]
    assert (shards.characters, shards.bytes) == (1 + 1 + 2, 2 + 1 + 2)  # what is no character counts as one byte


def test_a_line_too_few_is_damage() -> None:
    wrote()
    np.array([3], "<i8").tofile("train/lines.bin")
    with pytest.raises(UserError, match=r"^train is damaged: rows and lines differ; delete \. and prepare again$"):
        RowShards(Path("train"))


def test_what_is_above_is_told_with_its_line() -> None:
    shards = wrote()
    shards.refuse_above(2, np.array([1, 2]), "data.valid", "", "")
    with pytest.raises(UserError, match=r"^data.valid: line 8 has 2, above 1: cut it$"):
        shards.refuse_above(1, np.array([1, 2]), "data.valid", "has {}, above {}", "cut it")


def test_a_missing_file_has_no_numbers() -> None:
    assert numbers(Path("gone.bin"), "<i4").dtype == np.int32 and not len(numbers(Path("gone.bin"), "<i4"))
