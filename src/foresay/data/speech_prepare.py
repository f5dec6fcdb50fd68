"""Recordings with texts, or with a word to be found, and a tokeniser -> shards (row_prepare.py, frame_shards.py).

The figures of the columns (means, deviations) are those of the frames of train.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from foresay.data.frame_shards import FrameWriter
from foresay.data.label_prepare import PreparingLabels
from foresay.data.label_shards import LabelWriter
from foresay.data.mel import names_of
from foresay.data.prepare import Prepared
from foresay.data.row_prepare import Preparing
from foresay.data.row_shards import RowWriter
from foresay.data.series_form import SeriesForm, Summing
from foresay.data.speech import Heard, Keywords, Speech
from foresay.data.strange import StrangeWriter
from foresay.data.writer import Progress
from foresay.errors import UserError
from foresay.text.levels import Levels
from foresay.text.numbers import Numbers
from foresay.text.tokens import Tokens

FORMAT = 1
AT_ONCE = 64  # recordings encoded together


class Framing(Preparing):
    """What both kinds share: the frames of a row, and what they are like."""

    corpus: Speech  # pyright: ignore[reportIncompatibleVariableOverride]
    noun, needs, at, block = "recordings", "recordings", "number", AT_ONCE

    def __init__(self, corpus: Speech, tokens: Tokens, seed: int, tell: Progress | None, learnt: bool):
        self.rates: dict[str, int] = {}  # of each part that was gone through
        self.places: dict[str, str] = {}
        super().__init__(corpus, tokens, seed, tell, learnt)  # pyright: ignore[reportArgumentType]

    def told(self, part: str, row: Heard) -> bytes:
        return repr((row.frames.shape, row.text)).encode() + row.frames.tobytes()

    def size_of(self, row: Heard) -> int:
        return row.frames.size

    def texts(self, row: Heard) -> tuple[str, ...]:
        return (row.text,)

    def about(self) -> dict[str, Any]:
        # frames show how they are made but for their number of bands, which is their width
        given = None if self.corpus.form is None else asdict(self.corpus.form)
        return super().about() | {"frames": FORMAT, "rate": self._rate(), "form": given, "word": self.corpus.word}

    def learn(self, folder: Path) -> None:
        super().learn(folder)
        (self.corpus.form or self._form()).save(folder)

    def _rate(self) -> int:
        """That of all parts."""
        first = self.rates["train"]
        for name, rate in self.rates.items():
            if rate != first:
                raise UserError(
                    f"{self.places[name]} has {rate:,} Hz, and data.train {first:,}; make them alike: "
                    f"data.rate={min(rate, first)}"
                )
        return first

    def _form(self) -> SeriesForm:
        sums = Summing(self.corpus.read.bands)
        for row in self.rows("train"):
            sums.add(row.frames)
        columns = names_of(self._rate(), self.corpus.read.bands)
        return replace(sums.form(columns, None, self.places["train"]), rate=self._rate())

    def _scanned(self, part: str, text: Any) -> tuple[str, int]:
        found = super()._scanned(part, text)
        self.rates[part], self.places[part] = text.rate, text.name
        return found


class SpeechWriter(RowWriter):
    """Writes recordings and texts of one part into a folder."""

    def __init__(self, folder: Path, vocabulary: int):
        super().__init__(folder, vocabulary)
        self.frames = FrameWriter(folder)

    def finish(self) -> int:
        self.frames.finish()
        return super().finish()

    def __exit__(self, *error: object) -> None:
        self.frames.close()
        super().__exit__(*error)


class PreparingSpeech(Framing):
    """A row is a recording and its text."""

    def __init__(self, corpus: Speech, tokens: Tokens, seed: int, tell: Progress | None, learnt: bool):
        if isinstance(tokens, Levels | Numbers):
            name = getattr(tokens, "part_name", type(tokens).__name__)
            raise UserError(f"tokens={name} with data.kind=speech; allowed: tokens of texts, such as tokens=blanks")
        super().__init__(corpus, tokens, seed, tell, learnt)

    def writer(self, folder: Path) -> SpeechWriter:
        return SpeechWriter(folder, len(self.tokens))

    def add(self, folder: Path, writer: SpeechWriter, name: str, block: Sequence[Heard]) -> None:
        texts = [row.text for row in block]
        ids = self.tokens.encode_many(texts)
        for row, own in zip(block, ids, strict=True):
            least = len(own) + int((own[1:] == own[:-1]).sum())
            if least > len(row.frames):
                raise UserError(
                    f"{row.where} has {len(row.frames)} frames for a text that takes {least} or more "
                    f"({row.text[:40]!r}, a frame a symbol and one between two alike); lower data.hop, or mend it"
                )
            writer.frames.add(row.frames)
        writer.add([row.number for row in block], ids, texts)


class KeywordWriter(LabelWriter):
    """Writes recordings and labels of one part into a folder."""

    def __init__(self, folder: Path, vocabulary: int):
        super().__init__(folder, vocabulary)
        self.frames = FrameWriter(folder)

    def finish(self) -> int:
        self.frames.finish()
        return super().finish()

    def __exit__(self, *error: object) -> None:
        self.frames.close()
        super().__exit__(*error)


class PreparingKeywords(Framing, PreparingLabels):  # pyright: ignore[reportIncompatibleMethodOverride]
    """A row is a recording and whether the word is in its text."""

    corpus: Keywords  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, corpus: Keywords, tokens: Tokens, seed: int, tell: Progress | None, learnt: bool):
        if not isinstance(tokens, Numbers):
            name = getattr(tokens, "part_name", type(tokens).__name__)
            raise UserError(f"tokens={name} with data.kind=keywords; allowed: tokens=numbers")
        super().__init__(corpus, tokens, seed, tell, learnt)

    def told(self, part: str, row: Heard) -> bytes:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.lines.setdefault(part, {}).setdefault(self.corpus.label_of(row.text), row.number)
        return super().told(part, row)

    def notes(self, prepared: Prepared) -> Iterator[str]:
        yield from ()

    def writer(self, folder: Path) -> KeywordWriter:
        self.counts[folder.name], self.strange = Counter(), StrangeWriter(self.tokens)
        return KeywordWriter(folder, len(self.tokens))

    def add(self, folder: Path, writer: KeywordWriter, name: str, block: Sequence[Heard]) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        writer.add([row.number for row in block], [np.empty(0, np.uint32)] * len(block), [""] * len(block))
        found = [[self.numbers[self.corpus.label_of(row.text)]] for row in block]
        writer.numbers += found
        self.counts[folder.name].update(number for (number,) in found)
        for row in block:
            writer.frames.add(row.frames)
