"""Recordings and what is said in them: the sound as frames (mel.py), its text as symbols.

`train`, `valid` and `test` are each

    talks/  talks.zip      recordings with a table labels.csv beside them: file,text (sound_places.py); or folders that
                           are named for the one word of their recordings, or with data.label a part of their names
    builtin:melodies       rows of made tones (strung.py)
    fsdd                   spoken digits in rows of two to five, strung from the set's own recordings: the test from its
                           test, valid from the numbers 5 to 8 of each speaker and digit, train from the others

The last two bring their own valid and test. `keywords` are the same recordings, for a classifier: yes where the text
has the word, no where it has it not. Of what is strung, rows are longer there, and every second one has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from foresay.data import builtin
from foresay.data.label_shards import LabelSet
from foresay.data.made import made_rows
from foresay.data.mel import Reading, frames_of
from foresay.data.rows import Rows
from foresay.data.series_form import SeriesForm
from foresay.data.sound_files import SoundText
from foresay.data.sounds import held_back
from foresay.data.strung import DIGITS, Strung, holding, stock_of
from foresay.errors import UserError
from foresay.parts import Share, part

SPOKEN = {"train": 2_000, "valid": 200, "test": 300}  # rows of digits
VALID = range(5, 9)  # the numbers of recordings that valid is strung from
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class Heard(NamedTuple):
    """A recording: its number, where it is from, its frames (T, D), and its text."""

    number: int
    where: str
    frames: np.ndarray
    text: str


@dataclass
class SpeechText:
    """Recordings that can be gone through any number of times, with their texts."""

    sounds: SoundText
    how: Reading

    @property
    def name(self) -> str:
        return self.sounds.name

    @property
    def rate(self) -> int:
        """Of all of it, once gone through."""
        return self.sounds.found

    def __iter__(self) -> Iterator[Heard]:
        for number, (where, samples, text) in enumerate(self.sounds.named(), 1):
            if not text and self.sounds.labelled:
                raise UserError(
                    f"{where} has no text; give each recording one: a table labels.csv beside them, file,text and then "
                    "NAME,TEXT for each"
                )
            yield Heard(number, where, frames_of(samples, self.rate, self.how), text[0] if text else "")


@part("data", "speech")
class Speech(Rows):
    """Recordings with a text each, as frames: what a recogniser learns from."""

    unit = "recording"
    serves: ClassVar[tuple[str, ...]] = ("speech",)
    beside: ClassVar[dict[str, str]] = {"tokens": "blanks", "train.batches": "speech"}
    numeric = True  # the embedding reads numbers
    form: SeriesForm | None = None  # what the frames must be like: a trained model's
    word: str | None = None

    def __init__(
        self,
        train: str,
        valid: str | None = None,
        test: str | None = None,
        share: Share = 0.1,
        read: Reading = Reading(),  # noqa: B008 - frozen
    ):
        self.train, self.valid, self.test, self.share, self.read = train, valid, test, share, read

    def brought(self, place: str, name: str, seed: int) -> SpeechText | None:
        if place.startswith(builtin.PREFIX):
            return self._strung(f"{place} ({name})", made_rows("speech", place, seed)[name])
        if Path(place).expanduser().exists():
            return None
        path = builtin.known_sounds(place)
        return None if path is None else self._strung(f"{place} ({name})", spoken(path, name, seed))

    def opened(self, setting: str, place: str) -> SpeechText:
        path = Path(place).expanduser()
        if not path.exists():
            raise builtin.no_such(setting, place)
        return self._text(str(path), path=path, label=self.read.label, labelled=True)

    def unlabelled(self, place: str) -> SpeechText:
        """Recordings whose text is not asked."""
        return self._text(place, path=Path(place).expanduser(), labelled=False)

    def _strung(self, name: str, rows: Strung) -> SpeechText:
        return self._text(name, made=rows if self.word is None else holding(rows, self.word), given=rows.rate)

    def _text(self, name: str, **more: Any) -> SpeechText:
        rate = self.read.rate if self.form is None else self.form.rate
        return SpeechText(SoundText(name, rate=rate, trim=self.read.trim, **more), self.read)

    def another(self, place: str, form: SeriesForm) -> Speech:
        """Other recordings, read as these were, at the rate of a trained model."""
        other = type(self)(place, share=0.0, read=self.read)
        other.form = form
        return other


@part("data", "keywords")
class Keywords(Speech):
    """Recordings in which a word is said, or is not: what a classifier of frames learns from."""

    serves: ClassVar[tuple[str, ...]] = ("labels",)
    beside: ClassVar[dict[str, str]] = {"tokens": "numbers", "train.batches": "labels"}
    several, columns, known = False, None, None  # as texts with labels have them

    def __init__(
        self,
        train: str,
        word: str,
        valid: str | None = None,
        test: str | None = None,
        share: Share = 0.1,
        read: Reading = Reading(),  # noqa: B008 - frozen
    ):
        if not word.strip() or len(word.split()) > 1:
            raise UserError(f"data.word={word!r}; allowed: one word")
        super().__init__(train, valid, test, share, read)
        self.word = word

    def label_of(self, text: str) -> str:
        return "yes" if self.word in text.split() else "no"

    def another(self, place: str, form: SeriesForm) -> Keywords:
        other = Keywords(place, self.word or "", share=0.0, read=self.read)
        other.form, other.known = form, LabelSet(("no", "yes"), False, (1, 1))
        return other


def spoken(path: Path, name: str, seed: int) -> Strung:
    """Rows of the recordings of the Free Spoken Digit Dataset that a part is strung from."""

    def belongs(file: str) -> bool:
        number = int(Path(file).stem.split("_")[2])
        return {"test": held_back(file), "valid": number in VALID, "train": number >= VALID.stop}[name]

    text = SoundText(f"{path} ({name})", path, label=1, chosen=belongs)
    rows = [(samples, WORDS[int(label[0])]) for _, samples, label in text]
    if not rows:
        raise UserError(f"{path} has no recordings of {name}; get it again")
    part_number = ("train", "valid", "test").index(name)
    return Strung(stock_of(rows), text.found, SPOKEN[name], (seed, 93, part_number), DIGITS)
