"""Recordings with texts: tables, folders and names, made rows and a known set; what is refused."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from foresay.data.mel import Reading, frames_of
from foresay.data.speech import Keywords, Speech, spoken
from foresay.data.wav import wav_bytes
from foresay.errors import UserError

RATE = 8_000


def sound(seed: int, samples: int = 900) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.5, 0.5, samples)


def laid(folder: Path, texts: dict[str, str]) -> str:
    folder.mkdir()
    for number, name in enumerate(texts):
        (folder / name).write_bytes(wav_bytes(sound(number), RATE))
    lines = ["file,text", *(f"{name},{text}" for name, text in texts.items())]
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")
    return str(folder)


def test_a_table_gives_texts(tmp_path: Path) -> None:
    place = laid(tmp_path / "in", {"a.wav": "one two", "b.wav": ""})
    rows = list(Speech(place).find(1)["train"])
    assert [(row.number, row.text) for row in rows] == [(1, "one two"), (2, "")]
    whole = np.round(sound(0) * 2**15) / 2**15
    assert rows[0].frames == pytest.approx(frames_of(whole, RATE, Reading()), abs=1e-4)
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as packed:
        for file in sorted(Path(place).iterdir()):
            packed.write(file, file.name)
    assert [row.text for row in Speech(str(tmp_path / "in.zip")).find(1)["train"]] == ["one two", ""]


def test_folders_and_names_give_one_word(tmp_path: Path) -> None:
    for label, name in (("up", "1_x.wav"), ("down", "2_y.wav")):
        (tmp_path / "in" / label).mkdir(parents=True)
        (tmp_path / "in" / label / name).write_bytes(wav_bytes(sound(1), RATE))
    assert [row.text for row in Speech(str(tmp_path / "in")).find(1)["train"]] == ["down", "up"]
    named = Speech(str(tmp_path / "in"), read=Reading(label=2))
    assert [row.text for row in named.find(1)["train"]] == ["y", "x"]


def test_made_rows_bring_all_parts() -> None:
    found = Speech("builtin:melodies").find(1)
    assert list(found) == ["train", "valid", "test"]
    row = next(iter(found["test"]))
    assert found["test"].rate == 4_000 and row.frames.shape[1] == 40 and 3 <= len(row.text.split()) <= 6


def test_a_word_is_in_a_text_or_not() -> None:
    data = Keywords("builtin:melodies", "mi")
    assert [data.label_of(text) for text in ("mi", "do mi la", "mis", "")] == ["yes", "yes", "no", "no"]
    rows = data.find(1)["valid"]
    labels = [data.label_of(row.text) for row, _ in zip(rows, range(10), strict=False)]
    assert labels == ["no", "yes"] * 5
    with pytest.raises(UserError, match=r"^data\.word='a b'; allowed: one word$"):
        Keywords("builtin:melodies", "a b")
    with pytest.raises(UserError, match=r"^data\.word='soll'; allowed: do, re, .*did you mean 'sol'"):
        Keywords("builtin:melodies", "soll").find(1)


def test_what_is_refused(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "a.wav").write_bytes(wav_bytes(sound(1), RATE))
    with pytest.raises(UserError, match=r"a\.wav has no text; give each recording one: a table labels\.csv"):
        list(Speech(str(bare)).find(1)["train"])
    assert len(list(Speech(str(bare)).unlabelled(str(bare)))) == 1
    with pytest.raises(UserError, match=r"^data\.train='nowhere' is no file, folder or known text"):
        Speech("nowhere").find(1)
    with pytest.raises(UserError, match=r"^builtin:tones has no speech; allowed: builtin:melodies"):
        Speech("builtin:tones").find(1)
    with pytest.raises(UserError, match=r"^ptb holds no sounds; allowed: builtin:tones, fsdd"):
        Speech("ptb").find(1)


def test_parts_of_spoken_digits_share_no_recording(tmp_path: Path) -> None:
    place = tmp_path / "recordings"
    place.mkdir()
    for number in (0, 4, 5, 8, 9, 10):
        for digit in (3, 7):
            (place / f"{digit}_ann_{number}.wav").write_bytes(wav_bytes(sound(10 * number + digit, 400), RATE))
    parts = {name: spoken(place, name, 1) for name in ("train", "valid", "test")}
    stocks = {name: {one.tobytes() for own in rows.stock.values() for one in own} for name, rows in parts.items()}
    assert all(len(stock) == 4 for stock in stocks.values()) and len(set().union(*stocks.values())) == 12
    assert set(parts["test"].stock) == {"three", "seven"} and set(parts["test"][0][1].split()) <= {"three", "seven"}


@pytest.mark.data
def test_spoken_digits() -> None:
    root = os.environ.get("FORESAY_DATA", "")
    if not (Path(root) / "fsdd").is_dir():
        pytest.skip("fsdd is not under FORESAY_DATA")
    text = Speech("fsdd").brought("fsdd", "test", 1)
    assert text is not None
    row = next(iter(text))
    assert text.rate == 8_000 and 2 <= len(row.text.split()) <= 5
