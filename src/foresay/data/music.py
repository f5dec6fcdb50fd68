"""Music as series of piano rolls: 88 numbers of 0 and 1 a step, which keys of a piano sound (midi.py).

`train`, `valid` and `test` are each

    tune.mid  folder/                  MIDI files; `beat` says into how many steps a beat is divided
    x.json                             the keys that sound at each step, [[60, 64], [60], []], or a list of such
    builtin:chords                     made music, which brings its own valid and test
    jsb-chorales  nottingham           known sets, looked for under FORESAY_DATA, with their own valid and test
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foresay.data import builtin
from foresay.data.made import made_rows
from foresay.data.midi import FIRST, KEYS, read_roll
from foresay.data.series import Series
from foresay.data.series_files import SeriesText
from foresay.data.series_form import Music as Form
from foresay.errors import UserError, counted
from foresay.extras import need
from foresay.parts import Rate, Share, Size, part

ENDINGS = (".mid", ".midi")
NAMES = tuple(
    f"{['C', 'C#', 'D', 'D#', 'E', 'F', 'F#', 'G', 'G#', 'A', 'A#', 'B'][key % 12]}{key // 12 - 1}"
    for key in range(FIRST, FIRST + KEYS)
)
ALLOWED = "a MIDI file, a folder of them, a .json of lists of keys, builtin:chords, jsb-chorales, nottingham"
SPLITS = {"train": "traindata", "valid": "validdata", "test": "testdata"}  # of the known sets' Matlab files


@dataclass(frozen=True)
class MusicReading:
    """Into how many steps a beat of a MIDI file is divided, and how long a step lasts when it is played."""

    beat: Size = 1
    step: Rate = 0.5


@part("data", "music")
class Music(Series):
    """Piano rolls from MIDI files or lists of keys."""

    def __init__(
        self,
        train: str,
        valid: str | None = None,
        test: str | None = None,
        share: Share = 0.1,
        read: MusicReading = MusicReading(),  # noqa: B008 - frozen
    ):
        self.train, self.valid, self.test, self.share, self.read = train, valid, test, share, read  # pyright: ignore
        self.holdout = "series"

    def brought(self, place: str, name: str, seed: int) -> SeriesText | None:
        if place.startswith(builtin.PREFIX):
            made = made_rows("music", place, seed)
            return SeriesText(f"{place} ({name})", made=made[name], columns=NAMES)
        if Path(place).expanduser().exists():
            return None
        path = builtin.known_music(place)
        return None if path is None else _text(f"{place} ({name})", _of_set(path, name))

    def opened(self, setting: str, place: str) -> SeriesText:
        path = Path(place).expanduser()
        if not path.exists():
            raise builtin.no_such(setting, place)
        files = _files(path) if path.is_dir() else [path]
        found: list[np.ndarray] = []
        outside: list[int] = []  # of each MIDI file, its notes that no piano has
        for file in files:
            if file.suffix.lower() == ".json":
                found += [_roll(keys, str(file)) for keys in _lists(file)]
            elif file.suffix.lower() in ENDINGS:
                roll, left_out = read_roll(file, self.read.beat)  # pyright: ignore[reportAttributeAccessIssue]
                found.append(roll)
                outside.append(left_out)
            else:
                raise UserError(f"{setting}={place!r} is no music; allowed: {ALLOWED}")
        text = _text(str(path), found)
        if any(outside):
            files = counted(sum(map(bool, outside)), "file")
            text.notes = (f"{counted(sum(outside), 'note')} of {files} left out: no piano has their keys",)
        return text

    def music_of(self, found: dict[str, Any]) -> Form:
        return Form(FIRST, self.read.step)  # pyright: ignore[reportAttributeAccessIssue]


def _text(name: str, rolls: Sequence[np.ndarray]) -> SeriesText:
    return SeriesText(name, made=[(roll, 0) for roll in rolls], columns=NAMES)


def _files(folder: Path) -> list[Path]:
    found = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in ENDINGS and path.is_file()]
    if not found:
        raise UserError(f"{folder} holds no MIDI files; allowed: {ALLOWED}")
    return found


def _lists(path: Path) -> Iterator[Any]:
    """The pieces of a file, each a list of steps, each a list of keys."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is no JSON that can be read ({error}); mend it") from None
    several = isinstance(found, list) and found and isinstance(found[0], list) and found[0]
    yield from found if several and isinstance(found[0][0], list) else [found]


def _roll(steps: Any, where: str) -> np.ndarray:
    """Lists of MIDI keys as a piano roll."""
    roll = np.zeros((len(steps) if isinstance(steps, list) else 0, KEYS), np.float32)
    for number, keys in enumerate(steps if len(roll) else []):
        fits = isinstance(keys, list) and all(type(key) is int and FIRST <= key < FIRST + KEYS for key in keys)
        if not fits:
            raise UserError(
                f"{where}: step {number + 1} is {str(keys)[:40]}; allowed: a list of MIDI keys from {FIRST} to "
                f"{FIRST + KEYS - 1}"
            )
        roll[number, [key - FIRST for key in keys]] = 1
    if not len(roll):
        raise UserError(f"{where} has a piece without steps; allowed: lists of keys such as [[60, 64], [60], []]")
    return roll


def _of_set(path: Path, name: str) -> list[np.ndarray]:
    """One part of a known set, a Matlab file of rolls."""
    scipy = need("scipy.io", "images", f"{path.name}, a Matlab file,")
    found = scipy.loadmat(str(path))[SPLITS[name]][0]
    return [np.ascontiguousarray(roll, np.float32) for roll in found]
