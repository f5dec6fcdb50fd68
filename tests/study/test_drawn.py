"""What was drawn as files: their names, and what is in them."""

from __future__ import annotations

import io
import wave
from pathlib import Path

import numpy as np
from PIL import Image

from foresay.data.levels import Form
from foresay.study.drawn import write_drawn
from foresay.train.sheet import GAP


def pictures(*values: int) -> list[np.ndarray]:
    return [np.full((64, 64, 1), value, np.uint8) for value in values]


def test_a_sheet_has_a_row_for_each_label(tmp_path: Path) -> None:
    place, form = tmp_path / "all.png", Form(64, 64)
    assert write_drawn(place, {"a": pictures(1, 2, 3), "b": pictures(4, 5, 6)}, form) == [place]
    read, step = np.asarray(Image.open(place)), 64 + GAP
    read = read[:, read.shape[1] - 3 * step - GAP :]  # behind the names
    assert [[int(read[r * step + 9, c * step + 9]) for c in range(3)] for r in range(2)] == [[1, 2, 3], [4, 5, 6]]
    write_drawn(place, {None: pictures(1, 2, 3, 4)}, form)
    read = np.asarray(Image.open(place))
    assert [[int(read[r * step + 9, c * step + 9]) for c in range(2)] for r in range(2)] == [[1, 2], [3, 4]]


def test_a_folder_has_a_file_for_each(tmp_path: Path) -> None:
    drawn = {"a/b": pictures(1, 2), "..": pictures(3)}
    found = write_drawn(tmp_path / "out", drawn, Form(64, 64))
    assert [path.relative_to(tmp_path).as_posix() for path in found] == [
        "out/a-b-01.png",
        "out/a-b-02.png",
        "out/label-01.png",
    ]
    assert [int(np.asarray(Image.open(path))[0, 0]) for path in found] == [1, 2, 3]
    assert [path.name for path in write_drawn(tmp_path / "out", {None: pictures(7)}, Form(64, 64))] == ["01.png"]


def test_labels_that_would_have_one_name(tmp_path: Path) -> None:
    found = write_drawn(tmp_path / "out", {"a/b": pictures(1), "a b": pictures(2)}, Form(64, 64))
    assert len(set(found)) == 2
    assert [int(np.asarray(Image.open(path))[0, 0]) for path in found] == [1, 2]


def test_sounds_are_wav_files(tmp_path: Path) -> None:
    (path,) = write_drawn(tmp_path / "out", {"hum": [np.array([0.0, 0.5, -1.0])]}, Form(rate=4000))
    assert path.name == "hum-01.wav"
    with wave.open(io.BytesIO(path.read_bytes())) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (4000, 1, 2)
        assert np.frombuffer(file.readframes(3), "<i2").tolist() == [0, 16384, -32768]
