"""Music from MIDI files, lists of keys and the known sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mido
import numpy as np
import pytest
from scipy.io import savemat

from foresay import parts
from foresay.data.midi import FIRST, midi_bytes
from foresay.data.music import NAMES
from foresay.data.prepare import prepare
from foresay.errors import UserError


def made(train: Path | str, **settings: Any) -> Any:
    return parts.make("data", {"kind": "music", "train": str(train), **settings})


def roll(*steps: list[int]) -> np.ndarray:
    found = np.zeros((len(steps), 88), np.float32)
    for number, keys in enumerate(steps):
        found[number, [key - FIRST for key in keys]] = 1
    return found


def rolls(data: Any, part: str = "train") -> list[np.ndarray]:
    return [values for _, values, _ in data.find(1)[part]]


def test_names_of_keys() -> None:
    assert (NAMES[0], NAMES[39], NAMES[-1], NAMES[69 - FIRST]) == ("A0", "C4", "C8", "A4") and len(set(NAMES)) == 88


def test_folders_of_midi_and_lists_of_keys(tmp_path: Path) -> None:
    first, second = roll([60, 64], [], [60]), roll([62])
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.MID").write_bytes(midi_bytes(second, 0.5))
    (tmp_path / "b.midi").write_bytes(midi_bytes(first, 0.5))
    (tmp_path / "notes.txt").write_text("no music")
    found = rolls(made(tmp_path))
    assert np.array_equal(found[0], second) and np.array_equal(found[1], first)
    assert rolls(made(tmp_path, read={"beat": 2}))[0].shape == (2, 88)
    path = tmp_path / "x.json"
    path.write_text(json.dumps([[[60, 64], [], [60]], [[62]]]))
    assert all(map(np.array_equal, rolls(made(path)), (first, second)))
    path.write_text("[[60, 64], [], [60]]")
    assert np.array_equal(*rolls(made(path)), first)
    assert made(path).find(1)["train"].columns == NAMES
    assert made(path, read={"step": 0.25}).music_of({}).seconds == 0.25


def test_known_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path = tmp_path / "sets"
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path))
    (tmp_path / "jsb-chorales").mkdir(parents=True)
    pieces = {"traindata": [roll([60]), roll([61], [62])], "validdata": [roll([63])], "testdata": [roll([64])]}
    cells = {}
    for name, own in pieces.items():
        cells[name] = np.empty((1, len(own)), object)
        cells[name][0, :] = own
    savemat(tmp_path / "jsb-chorales" / "JSB_Chorales.mat", cells)
    data = made("jsb-chorales")
    for part, name in (("train", "traindata"), ("valid", "validdata"), ("test", "testdata")):
        assert all(map(np.array_equal, rolls(data, part), pieces[name]))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[[60, 200]]", r"x.json: step 1 is \[60, 200\]; allowed: a list of MIDI keys from 21 to 108"),
        ("[[60.5]]", r"step 1 is \[60.5\]"),
        ("[]", "has a piece without steps"),
        ("{}", "has a piece without steps"),
        ("[[[60]], []]", "has a piece without steps"),
        ("[", "is no JSON that can be read"),
    ],
)
def test_lists_that_are_no_music(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(UserError, match=said):
        made(tmp_path / "x.json").find(1)


def test_places_without_music(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no MIDI files; allowed: a MIDI file, a folder of them"):
        made(tmp_path).find(1)
    (tmp_path / "x.txt").touch()
    with pytest.raises(UserError, match=r"data.train='.*x.txt' is no music; allowed"):
        made(tmp_path / "x.txt").find(1)
    for name, said in (("builtin:sunspots", "has no music; allowed: builtin:chords"), ("nix.mid", "is no file")):
        with pytest.raises(UserError, match=said):
            made(name).find(1)
    with pytest.raises(UserError, match="mnist holds no music; allowed: builtin:chords, jsb-chorales, nottingham"):
        made("mnist").find(1)


def test_notes_that_no_piano_has_are_told(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, keys in (("a.mid", [60, 10, 110]), ("b.mid", [61]), ("c.mid", [62, 8])):
        file = mido.MidiFile(ticks_per_beat=480)
        file.tracks.append(mido.MidiTrack())
        for key in keys:
            file.tracks[0] += [mido.Message("note_on", note=key), mido.Message("note_off", note=key, time=480)]
        file.save(tmp_path / "in" / name)
    found = prepare(made(tmp_path / "in", valid=str(tmp_path / "in" / "b.mid")), parts.make("tokens", "numbers"), 1)
    assert found.notes == ("data.train: 3 notes of 2 files left out: no piano has their keys",)
