"""What a run drew -> files: pictures on one sheet or each by itself, sounds each by itself.

FILE.png   a row of pictures a label, with its name; of one label, or without, about as many rows as columns
FOLDER     7-01.png, 7-02.png ... by label and number, or 01.png ..., of their own size, so that a run reads them again;
           of sounds .wav, and sounds.png that shows them
FILE.wav   one sound
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from foresay.data.levels import Form
from foresay.data.wav import wav_bytes
from foresay.train.aside import write_file
from foresay.train.sheet import sheet_of, write_image
from foresay.train.waves import draw_waves

SHOWN = "sounds.png"
Drawn = Mapping[str | None, Sequence[np.ndarray]]  # label -> pictures or sounds


def write_drawn(place: Path, drawn: Drawn, form: Form) -> list[Path]:
    """The files that were written, in the order of labels and numbers; one where all are on a sheet."""
    if place.suffix.lower() == ".png" and not place.is_dir():
        write_image(place, sheet_of(drawn))
        return [place]
    if form.rate and place.suffix.lower() == ".wav" and not place.is_dir():
        ((only,),) = drawn.values()
        write_file(place, wav_bytes(only, form.rate))
        return [place]
    place.mkdir(exist_ok=True)
    found: list[Path] = []
    begins: list[str] = []
    for label, each in drawn.items():
        begin = _begin(label)
        begins.append(begin)
        begin += "-" * (begins.count(begin) - 1)  # of two labels that are one name as a file
        for number, one in enumerate(each, 1):
            name = f"{number:0{max(len(str(len(each))), 2)}d}.{'wav' if form.rate else 'png'}"
            path = place / f"{begin}{name}"
            _write(path, one, form)
            found.append(path)
    if form.rate:
        draw_waves(place / SHOWN, drawn, form.rate)
    return found


def _begin(label: str | None) -> str:
    """A label as a file's name begins with it."""
    plain = "" if label is None else re.sub(r"[^\w.-]+", "-", label).strip(".-") or "label"
    return f"{plain}-" if plain else ""


def _write(path: Path, one: np.ndarray, form: Form) -> None:
    if form.rate:
        write_file(path, wav_bytes(one, form.rate))
    else:
        write_image(path, one)
