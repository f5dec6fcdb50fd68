"""Pictures or sounds -> shards of levels (row_prepare.py), with labels beside them where there are any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from foresay.data.label_prepare import PreparingLabels
from foresay.data.label_shards import LabelWriter
from foresay.data.levels import UNLABELLED, Form, Leveled, LevelRows
from foresay.data.prepare import Prepared
from foresay.data.strange import StrangeWriter
from foresay.data.writer import Progress
from foresay.errors import UserError
from foresay.text.levels import FIRST, Levels
from foresay.text.tokens import Tokens

FORMAT = 1
AT_ONCE, ROOM = 64, 2**22  # documents encoded together, and levels of them


class LevelWriter(LabelWriter):
    """Writes the levels of one part into a folder."""

    def add_levels(self, numbers: Sequence[int], ids: list[np.ndarray]) -> None:
        """Appends documents; a level counts as one character and one byte."""
        self.lines.append(np.array(numbers, np.int64))
        self.own.add(ids)
        for name in ("characters", "bytes"):
            setattr(self.own.meta, name, getattr(self.own.meta, name) + sum(map(len, ids)))


class PreparingLevels(PreparingLabels):
    """A row is a picture or a sound, and its label."""

    corpus: LevelRows  # pyright: ignore[reportIncompatibleVariableOverride]
    noun, needs, at, longest = "documents", "documents", "number", 1

    def __init__(self, corpus: LevelRows, tokens: Tokens, seed: int, tell: Progress | None, learnt: bool):
        kind = getattr(corpus, "part_name", "images")
        if not isinstance(tokens, Levels):
            name = getattr(tokens, "part_name", type(tokens).__name__)
            raise UserError(f"tokens={name} with data.kind={kind}; allowed: tokens.kind=levels, with tokens.number")
        if corpus.most is not None and tokens.number > corpus.most:
            raise UserError(f"tokens.number={tokens.number} with data.kind={kind}; allowed: 2 to {corpus.most}")
        super().__init__(corpus, tokens, seed, tell, learnt)  # pyright: ignore[reportArgumentType]
        self.form, self.block = corpus.form_of(self.found), max(min(AT_ONCE, ROOM // self.longest), 1)

    def _check(self) -> None:
        bare = next((part for part, found in self.lines.items() if UNLABELLED in found), None)
        if bare is not None and self.corpus.known is not None:
            raise UserError(
                f"{self.found[bare].name}: number {self.lines[bare][UNLABELLED]} has no label, and the run tells "
                f"{len(self.names)} apart; give each one: a folder for each label, or labels.csv"
            )
        if bare is not None:
            self.names, self.numbers = [UNLABELLED], dict.fromkeys([UNLABELLED, *self.names], 0)
            return
        if len(self.names) > 1:
            super()._check()

    def notes(self, prepared: Prepared) -> Iterator[str]:
        yield from self.corpus.noted()
        if self.names != [UNLABELLED]:
            yield from super().notes(prepared)

    def told(self, part: str, row: Leveled) -> bytes:  # pyright: ignore[reportIncompatibleMethodOverride]
        number, values, labels = row
        self.longest = max(self.longest, values.size)
        first = self.lines.setdefault(part, {})
        for label in labels or (UNLABELLED,):
            first.setdefault(label, number)
        return repr((values.shape, str(values.dtype), labels)).encode() + values.tobytes()

    def texts(self, row: Leveled) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return (row[1].reshape(-1),)

    def about(self) -> dict[str, Any]:
        law = getattr(self.corpus.read, "law", None)  # by which samples become levels
        return super().about() | {"form": FORMAT, "law": law, "rate": self.form.rate}

    def write(self, folder: Path) -> None:
        super().write(folder)
        self.form.save(folder)

    def writer(self, folder: Path) -> LevelWriter:
        self.counts[folder.name], self.strange = Counter(), StrangeWriter(self.tokens)
        return LevelWriter(folder, len(self.tokens))

    def add(self, folder: Path, writer: LevelWriter, name: str, block: Sequence[Leveled]) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        assert isinstance(self.tokens, Levels)
        ids = [FIRST + self.corpus.levels(row[1], self.tokens.number).reshape(-1).astype(np.uint32) for row in block]
        writer.add_levels([row[0] for row in block], ids)
        found = [[self.numbers[label] for label in row[2] or (UNLABELLED,)] for row in block]
        writer.numbers += found
        self.counts[folder.name].update(number for each in found for number in each)


def form_of(prepared: Prepared) -> Form | None:
    """What the documents are like, where they are pictures or sounds."""
    return getattr(prepared.train, "form", None)
