"""Pictures as sequences of levels: which files, what they are made alike by, and what is held out for validation.

`train`, `valid` and `test` are each

    digits/  x.npy  train-images-idx3-ubyte.gz    pictures, with labels where there are any (image_files.py)
    builtin:digits  builtin:shapes  mnist          pictures that come along, and known sets; they bring their own test

A value v of 0 .. 255 becomes the level v N // 256 of the N that `tokens.number` says: with 2 black and white, divided
at 128, with 256 the values as they are. A level is shown as the value 255 level / (N - 1), or the nearest of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from foresay.data import builtin
from foresay.data.image_files import ImageText
from foresay.data.levels import Form, LevelRows
from foresay.data.made import made_rows
from foresay.errors import UserError
from foresay.parts import Share, part


@dataclass(frozen=True)
class ImageReading:
    """What pictures are made alike by: their colours, and their size, [rows, columns]."""

    colour: Literal["auto", "grey", "rgb"] = "auto"
    size: list[int] | None = None


@part("data", "images")
class Images(LevelRows):
    """Pictures from a folder, a .npy or an idx file, or from a known set, in raster order."""

    beside: ClassVar[dict[str, str]] = {"tokens": "levels", "train.batches": "images"}
    most = 256

    def __init__(
        self,
        train: str,
        valid: str | None = None,
        test: str | None = None,
        share: Share = 0.1,
        read: ImageReading = ImageReading(),  # noqa: B008 - frozen
    ):
        self.train, self.valid, self.test, self.share, self.read = train, valid, test, share, read
        if read.size is not None and (len(read.size) != 2 or min(read.size) < 1):
            raise UserError(f"data.size={read.size}; allowed: two integers > 0, the rows and the columns")

    def brought(self, place: str, name: str, seed: int) -> ImageText | None:
        if place.startswith(builtin.PREFIX):
            return self._text(f"{place} ({name})", made=made_rows("images", place, seed)[name])
        if Path(place).expanduser().exists():
            return None
        files = builtin.known_images(place)
        return None if files is None or name not in files else self._text(str(files[name]), files[name])

    def opened(self, setting: str, place: str) -> ImageText:
        path = Path(place).expanduser()
        if not path.exists():
            raise builtin.no_such(setting, place)
        return self._text(str(path), path)

    def _text(self, name: str, path: Path | None = None, made: Any = None) -> ImageText:
        size = None if self.read.size is None else (self.read.size[0], self.read.size[1])
        colour = self.read.colour if self.form is None else "rgb" if self.form.channels == 3 else "grey"
        return ImageText(name, path, made, colour, size, self.labelled, form=self.form)

    def levels(self, values: np.ndarray, number: int) -> np.ndarray:
        return values.astype(np.int64) * number // 256

    def admitted(self, values: np.ndarray, where: str, form: Form) -> np.ndarray:
        given = values[..., None] if values.ndim == 2 else values
        if given.dtype != np.uint8 or given.shape != (form.rows, form.columns, form.channels):
            found = f"is {given.dtype} {given.shape}"
            if given.dtype == np.uint8 and given.ndim == 3 and given.shape[2] == form.channels:
                found = f"has {given.shape[0]} x {given.shape[1]} pixels"
            raise UserError(
                f"{where} {found}, and the run was trained on {form.told()}; make it uint8 "
                f"{(form.rows, form.columns, form.channels)}"
            )
        return given

    def values(self, levels: np.ndarray, number: int, form: Form) -> np.ndarray:
        first, last = -(-256 * levels // number), -(-256 * (levels + 1) // number) - 1  # the values of a level
        shown = np.rint(levels * (255 / (number - 1))).clip(first, last).astype(np.uint8)
        return shown.reshape(form.rows, form.columns, form.channels)

    def form_of(self, found: dict[str, Any]) -> Form:
        forms = {name: _form(text) for name, text in found.items()}
        first = self.form or forms["train"]  # what a trained model's must be, each has been held to
        for name, form in forms.items():
            if form != first:
                raise UserError(
                    f"{found[name].name} has {form.told()}, and data.train has {first.told()}; make them alike: "
                    f"data.size=[{first.rows}, {first.columns}] data.colour={'rgb' if first.channels == 3 else 'grey'}"
                )
        return first


def _form(text: Any) -> Form:
    """What the pictures of a text are like, by its first; all of it have been compared."""
    for _, image, _ in text:
        return Form(*image.shape)
    raise AssertionError
