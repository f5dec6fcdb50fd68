"""Sounds as sequences of levels: which recordings, what they are made alike by, and what is held out for validation.

`train`, `valid` and `test` are each

    digits/  digits.tar.xz      recordings, with labels where there are any (sound_places.py)
    talk.wav                    one recording: cut into pieces of data.seconds, or of 10 seconds
    builtin:tones  fsdd         sounds that are made here, and a known set; they bring their own test

A sample becomes one of the N levels that `tokens.number` says (laws.py), a sound the levels of its samples and STOP.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foresay.data import builtin, tones
from foresay.data.laws import Law, levels_of, samples_of
from foresay.data.levels import Form, LevelRows
from foresay.data.made import made_rows
from foresay.data.sound_files import SoundText
from foresay.data.sound_places import ARCHIVES
from foresay.errors import UserError, counted
from foresay.parts import Rate, Share, Size, part

PIECE = 10.0  # seconds of a piece of one long recording, where nothing else is said
NUMBER, TESTED = 3, 5  # fsdd's names are digit_speaker_number, of which the first five are the test


@dataclass(frozen=True)
class SoundReading:
    """What recordings are made alike by: their rate in Hz, their length, the law of their levels, and their labels."""

    rate: Size | None = None
    seconds: Rate | None = None
    law: Law = "mu"
    trim: Rate | None = None
    label: int | None = None


@part("data", "sounds")
class Sounds(LevelRows):
    """Recordings from a folder, an archive or a file, or from a known set, as levels of their samples."""

    def __init__(
        self,
        train: str,
        valid: str | None = None,
        test: str | None = None,
        share: Share = 0.1,
        read: SoundReading = SoundReading(),  # noqa: B008 - frozen
    ):
        self.train, self.valid, self.test, self.share, self.read = train, valid, test, share, read
        self.texts: dict[str, SoundText] = {}

    def brought(self, place: str, name: str, seed: int) -> SoundText | None:
        if place.startswith(builtin.PREFIX):
            made = made_rows("sounds", place, seed)[name]
            return self._text(f"{place} ({name})", made=made, given=tones.RATE)
        if Path(place).expanduser().exists():
            return None
        path = builtin.known_sounds(place)
        if path is None or name == "valid":
            return None
        wanted, label = name == "test", self.read.label or 1
        return self._text(f"{place} ({name})", path, label=label, chosen=lambda one: held_back(one) == wanted)

    def opened(self, setting: str, place: str) -> SoundText:
        path = Path(place).expanduser()
        if not path.exists():
            raise builtin.no_such(setting, place)
        long = path.is_file() and not path.name.lower().endswith(ARCHIVES) and setting.startswith("data.")
        return self._text(str(path), path, seconds=self.read.seconds or (PIECE if long else None))

    def _text(self, name: str, path: Path | None = None, **more: Any) -> SoundText:
        read = self.read
        rate = read.rate if self.form is None else self.form.rate
        own = {"rate": rate, "seconds": read.seconds, "trim": read.trim, "label": read.label, "labelled": self.labelled}
        self.texts[name] = SoundText(name, path, **(own | more))
        return self.texts[name]

    def levels(self, values: np.ndarray, number: int) -> np.ndarray:
        return levels_of(values, number, self.read.law)

    def admitted(self, values: np.ndarray, where: str, form: Form) -> np.ndarray:
        if values.ndim != 1 or not len(values) or values.dtype.kind != "f" or not np.isfinite(values).all():
            raise UserError(
                f"{where} is {values.dtype} {values.shape}; allowed: samples of -1 to 1 at {form.rate:,} Hz, (N,) of "
                "floats"
            )
        return values

    def values(self, levels: np.ndarray, number: int, form: Form) -> np.ndarray:
        return samples_of(levels, number, self.read.law)

    def form_of(self, found: dict[str, Any]) -> Form:
        rates = {name: self.texts[text.name].found for name, text in found.items()}
        first = rates["train"] if self.form is None else self.form.rate
        for name, rate in rates.items():
            if rate != first:
                raise UserError(
                    f"{found[name].name} has {rate:,} Hz, and data.train {first:,}; make them alike: "
                    f"data.rate={min(rate, first)}"
                )
        return Form(rate=first)

    def noted(self) -> Iterator[str]:
        for text in self.texts.values():
            if text.silent:
                yield f"{text.name}: {counted(text.silent, 'silent piece')} left out (data.trim)"


def held_back(name: str) -> bool:
    """Whether a recording of the Free Spoken Digit Dataset belongs to its test."""
    return int(Path(name).stem.split("_")[NUMBER - 1]) < TESTED
