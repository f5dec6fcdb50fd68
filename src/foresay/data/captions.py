"""Pictures and what is written of them: a picture is the source of a pair, a text its target (captions, OCR).

`train`, `valid` and `test` are each

    lines/  x.npy  train-images-idx3-ubyte.gz    pictures, with what is written of each as its label (image_files.py)
    builtin:numbers                               handwritten digits in a row -> "4071"; brings its own valid and test

A picture is made grey and `height` rows high, its width in proportion, and is read column by column from the left, each
from above: a source of `height` levels a column (text/levels.py), v N // 256 of a value v. `encoder: shrunk` with
`by` the height and `how: join` takes a column at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from foresay.data import builtin
from foresay.data.image_files import ImageText, scaled
from foresay.data.made import made_rows
from foresay.data.pair_files import Pair
from foresay.data.pairs import Pairs
from foresay.data.rows import Rows
from foresay.errors import UserError
from foresay.parts import Share, Size, part
from foresay.text.levels import Levels
from foresay.text.tokens import Tokens

_SPELT = re.compile(r"\d+( \d+)+")  # a picture as levels between blanks


@dataclass(frozen=True)
class CaptionReading:
    """How high pictures are made."""

    height: Size = 16


@dataclass(frozen=True)
class CaptionText:
    """Pictures as levels between blanks, each with its text."""

    pictures: ImageText
    height: int
    levels: int

    @property
    def name(self) -> str:
        return self.pictures.name

    def __iter__(self) -> Iterator[Pair]:
        for number, (where, image, texts) in enumerate(self.pictures.read(), 1):
            if not texts:
                raise UserError(
                    f"{where} has no text; give each picture one: a table labels.csv beside them, file,label and then "
                    "NAME,TEXT for each"
                )
            yield number, spelt(image, where, self.height, self.levels), texts[0]


@part("data", "captions")
class Captions(Pairs):
    """Pictures and texts: what is written in them, or of them."""

    serves: ClassVar[tuple[str, ...]] = ("pairs",)
    pictured = True

    def __init__(
        self,
        train: str,
        valid: str | None = None,
        test: str | None = None,
        share: Share = 0.1,
        source_tokens: Tokens | str = "levels",
        read: CaptionReading = CaptionReading(),  # noqa: B008 - frozen
    ):
        if not isinstance(source_tokens, Levels) or source_tokens.number > 256:
            raise UserError("data.source_tokens of pictures; allowed: {kind: levels, number: 2} to 256")
        self.train, self.valid, self.test, self.share = train, valid, test, share
        self.source_tokens, self.read = source_tokens, read  # pyright: ignore[reportAttributeAccessIssue]

    def find(self, seed: int) -> dict[str, Any]:
        return Rows.find(self, seed)

    @property
    def together(self) -> int:
        return 1

    @property
    def tabled(self) -> bool:
        return False

    def brought(self, place: str, name: str, seed: int) -> CaptionText | None:
        if not place.startswith(builtin.PREFIX):
            return None
        return self._text(f"{place} ({name})", made=made_rows("captions", place, seed)[name])

    def opened(self, setting: str, place: str) -> CaptionText:
        path = Path(place).expanduser()
        if not path.exists():
            raise builtin.no_such(setting, place)
        return self._text(str(path), path)

    def another(self, place: Any, read: Any) -> Captions:
        return Captions(place, share=0.0, source_tokens=self.source_tokens, read=read)

    def source_of(self, given: str) -> str:
        """A picture's file as the model reads it; a text of levels stays as it is."""
        if _SPELT.fullmatch(given):
            return given
        path = Path(given).expanduser()
        if not path.is_file():
            raise UserError(f"{given!r} is no file; this run writes from a picture: give one, such as a.png")
        found = list(self._text(given, path, labelled=False).pictures.read())
        if len(found) != 1:
            raise UserError(f"{given} has {len(found)} pictures; allowed: a file of one")
        return spelt(found[0][1], given, self.read.height, self.source_tokens.number)

    def _text(self, name: str, path: Path | None = None, made: Any = None, *, labelled: bool = True) -> CaptionText:
        assert isinstance(self.source_tokens, Levels)
        return CaptionText(ImageText(name, path, made, labelled=labelled), self.read.height, self.source_tokens.number)


def spelt(image: np.ndarray, where: str, height: int, levels: int) -> str:
    """A picture of any size as levels between blanks, column by column."""
    grey = ImageText(where, colour="grey").shaped(where, image)
    columns = max(round(grey.shape[1] * height / grey.shape[0]), 1)
    found = grey if grey.shape[0] == height else scaled(grey, (height, columns))
    return " ".join(map(str, (found[..., 0].astype(int) * levels // 256).T.reshape(-1).tolist()))
