"""Shards of frames: frames cut and padded by hand, what is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from foresay.data.frame_shards import FrameWriter, SpeechShards, stacked
from foresay.errors import UserError
from tests.data.test_speech_prepare import shards_of


def test_rows_are_stacked() -> None:
    rows = [np.ones((2, 3), np.float32), np.full((1, 3), 5, np.float32)]
    frames, mask = stacked(rows, 4)
    assert mask is not None and mask.tolist() == [[True, True, False, False], [True, False, False, False]]
    assert frames[0].tolist() == [[1.0] * 3] * 2 + [[0.0] * 3] * 2 and frames[1, 0].tolist() == [5.0] * 3
    assert stacked(rows[:1], 2)[1] is None


def test_what_is_written_is_there(tmp_path: Path) -> None:
    writer = FrameWriter(tmp_path)
    for count in (2, 1):
        writer.add(np.full((count, 3), count, float))
    writer.finish()
    assert np.fromfile(tmp_path / "frame_ends.bin", "<i8").tolist() == [2, 3]
    assert np.fromfile(tmp_path / "frames.bin", "<f4").tolist() == [2.0] * 6 + [1.0] * 3


def test_damage_is_noticed(tmp_path: Path) -> None:
    folder = shards_of(tmp_path).folder / "train"
    kept = (folder / "frames.bin").read_bytes()
    (folder / "frames.bin").write_bytes(kept[:-4])
    with pytest.raises(UserError, match="is damaged; delete"):
        SpeechShards(folder)
    (folder / "frames.bin").write_bytes(kept)
    assert torch.isfinite(SpeechShards(folder).frames_of(np.array([0]), 5)[0]).all()
