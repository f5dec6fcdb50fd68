"""Pictures and sounds as levels: what is the same for both, whatever files they come from.

A document is one picture in raster order (the colours of a pixel one after the other) or one recording; its values
become the levels 0 .. N-1 of the tokeniser (text/levels.py), and a label may stand beside it.

levels.json in the prepared folder and in the run says what the documents are: `Form`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from foresay.data.label_shards import LabelSet, LabelShards
from foresay.data.rows import Rows
from foresay.errors import UserError

FILE = "levels.json"
T = TypeVar("T")
Leveled = tuple[int, np.ndarray, tuple[str, ...]]  # the number of the document, its values, its label
UNLABELLED = ""  # the one label of documents that have none


@dataclass(frozen=True)
class Form:
    """Of pictures their size in pixels and their colours; of sounds how many samples a second has."""

    rows: int = 0
    columns: int = 0
    channels: int = 1
    rate: int = 0

    @property
    def size(self) -> int:
        """How many levels a picture has; 0 for sounds, which may be of any length."""
        return self.rows * self.columns * self.channels

    @property
    def noun(self) -> str:
        return "sound" if self.rate else "image"

    def told(self) -> str:
        colours = " in colour" if self.channels == 3 else ""
        return f"sounds of {self.rate:,} Hz" if self.rate else f"images of {self.rows} x {self.columns} pixels{colours}"

    def save(self, folder: Path) -> None:
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1) + "\n", "utf-8")

    @classmethod
    def read(cls, folder: Path) -> Form:
        """What `save` left in a folder."""
        path = folder / FILE
        try:
            found = json.loads(path.read_text("utf-8"))
            form = cls(**found)
            whole = all(
                type(getattr(form, field.name)) is int and getattr(form, field.name) >= 0 for field in fields(cls)
            )
        except FileNotFoundError:
            raise UserError(f"{path} is missing; copy it back") from None
        except (OSError, ValueError, TypeError):
            whole, form = False, cls()
        if not whole or not (form.size or form.rate):
            raise UserError(f"{path} is damaged; copy it again")
        return form


class LevelShards(LabelShards):
    """Pictures or sounds as levels, with their labels; without labels all have the same, `UNLABELLED`."""

    differ = "documents and labels"

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.form = Form.read(folder.parent)

    @property
    def unlabelled(self) -> bool:
        return self.labels.names == (UNLABELLED,)

    def given(self, where: Sequence[tuple[int, int]], width: int) -> np.ndarray | None:
        return None if self.unlabelled else super().given(where, width)


class LevelRows(Rows):
    """What `images` and `sounds` keep."""

    unit = "document"
    serves = ("text", "labels")  # the kinds of tasks that read them
    beside: ClassVar[dict[str, str]] = {"tokens": "levels"}  # kinds of parts that a recipe for texts needs with them
    several, columns = False, None  # as texts with labels have them
    read: Any  # how files are made alike
    most: int | None = None  # levels that values can be told apart by
    labelled = True  # False: labels are not looked for
    known: LabelSet | None = None  # the only labels there may be: a trained model's
    form: Form | None = None  # what the documents must be like: a trained model's

    def levels(self, values: np.ndarray, number: int) -> np.ndarray:
        """Values as the numbers of levels."""
        raise AssertionError

    def admitted(self, values: np.ndarray, where: str, form: Form) -> np.ndarray:
        """A document that is as those that a model was trained on, else a UserError."""
        raise AssertionError

    def values(self, levels: np.ndarray, number: int, form: Form) -> np.ndarray:
        """Levels as a picture (rows, columns, channels) of 0 .. 255, or as a sound (samples,) of -1 .. 1."""
        raise AssertionError

    def form_of(self, found: dict[str, Any]) -> Form:
        """What the documents of all parts are like; a UserError where they differ."""
        raise AssertionError

    def another(self, place: str, read: Any, known: LabelSet | None, form: Form) -> LevelRows:
        """Other documents, read as these were and held to the labels and the form of a trained model."""
        other = type(self)(place, share=0.0, read=read)  # pyright: ignore[reportCallIssue]
        other.known, other.form = known, form
        return other

    def noted(self) -> Iterator[str]:
        """What a person should know of how the files were read."""
        yield from ()


def spread(items: Sequence[T], most: int | None) -> Sequence[T]:
    """Some of them, `most` at most, as far apart as can be; None: all."""
    return items if most is None else items[:: max(-(-len(items) // most), 1)]
