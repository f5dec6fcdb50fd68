"""Texts with labels and a tokeniser -> shards (row_prepare.py).

Vocabulary and labels are learnt from the train text alone: a label that stands only in valid or test is a mistake.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from foresay.data.label_files import Labelled
from foresay.data.label_shards import LabelSet, LabelShards, LabelWriter, in_order
from foresay.data.labels import Labels
from foresay.data.prepare import Prepared
from foresay.data.row_prepare import Preparing
from foresay.data.strange import StrangeWriter, words_of
from foresay.data.writer import Progress
from foresay.errors import UserError, nearest
from foresay.text.tokens import Tokens

FORMAT = 2
MOST_NAMED = 12  # labels that an error or a note lists
_quoted = json.JSONEncoder().encode


class PreparingLabels(Preparing):
    """A row is a text and its labels."""

    corpus: Labels
    noun, needs = "texts", "a text and its label"

    def __init__(self, corpus: Labels, tokens: Tokens, seed: int, tell: Progress | None, learnt: bool):
        self.lines: dict[str, dict[str, int]] = {}  # the first line of every label of a part
        super().__init__(corpus, tokens, seed, tell, learnt)
        self.names = in_order(self.lines["train"]) if corpus.known is None else list(corpus.known.names)
        self.numbers = {label: number for number, label in enumerate(self.names)}
        self._check()

    def _check(self) -> None:
        """Refuses labels that nothing is learnt of, and a text with nothing to tell apart."""
        for part, found in self.lines.items():
            for label, line in found.items():
                if label not in self.names:
                    shown = [*self.names[:MOST_NAMED], *(["..."] if len(self.names) > MOST_NAMED else [])]
                    raise UserError(
                        f"{self.found[part].name}: {self.at} {line} has the label {label!r}, which the train text has "
                        f"not; allowed: {', '.join(shown)}{nearest(label, self.names)}"
                    )
        if len(self.names) < (1 if self.corpus.several else 2):
            only = (
                f"only the label {self.names[0]!r}, from {self.at} {self.lines['train'][self.names[0]]} on"
                if self.names
                else "no label"
            )
            raise UserError(f"{self.found['train'].name} has {only}; give texts of at least two")

    def notes(self, prepared: Prepared) -> Iterator[str]:
        """Labels that cannot be learnt: all their texts are held out, or a header was read as a text."""
        assert isinstance(prepared.train, LabelShards)
        if self.learnt:
            return
        labels = prepared.train.labels
        numbered = all(isinstance(column, int) for column in self.corpus.columns or ("text",))
        gone = [label for label, count in zip(labels.names, labels.counts, strict=True) if count == 0]
        if len(gone) == 1:
            yield f"held out: every text with the label {gone[0]!r}; it cannot be learnt"
        elif gone:
            shown = [*map(repr, gone[:MOST_NAMED]), *(["..."] if len(gone) > MOST_NAMED else [])]
            yield f"held out: every text of {len(gone):,} labels, which cannot be learnt: {', '.join(shown)}"
        for label, count in zip(labels.names, labels.counts, strict=True):
            if count <= 1 and numbered and self.lines["train"].get(label) == 1:
                yield (
                    f"warning: only line 1 of {self.found['train'].name} has the label {label!r}: a header is read as "
                    "a text where data.columns has numbers; name the columns in their place, or delete the line"
                )

    def told(self, part: str, row: Labelled) -> bytes:
        line, text, labels = row
        first = self.lines.setdefault(part, {})
        for label in labels:
            first.setdefault(label, line)
        # what json.dumps(row) gives, in a third of its time: 0.7 us, not 1.9
        return f"[{line}, {_quoted(text)}, [{', '.join(map(_quoted, labels))}]]".encode()

    def texts(self, row: Labelled) -> tuple[str, ...]:
        return (row[1],)

    def about(self) -> dict[str, Any]:
        own = {"labels": FORMAT, "names": self.names, "several": self.corpus.several}
        return super().about() | own

    def write(self, folder: Path) -> None:
        self.counts: dict[str, Counter[int]] = {}
        super().write(folder)
        counts = tuple(self.counts["train"][number] for number in range(len(self.names)))
        LabelSet(tuple(self.names), self.corpus.several, counts).save(folder)

    def writer(self, folder: Path) -> LabelWriter:
        self.counts[folder.name] = Counter()
        self.strange = StrangeWriter(self.tokens)
        return LabelWriter(folder, len(self.tokens))

    def add(self, folder: Path, writer: LabelWriter, name: str, block: Sequence[Labelled]) -> None:
        lines, texts, labels = map(list, zip(*block, strict=True))
        ids = self.ids_of(self.tokens, texts, lines, name, "text")
        writer.add(lines, ids, texts)
        self.strange.add(ids, lambda row: words_of(self.tokens, texts[row], ids[row].tolist()))
        found = [[self.numbers[label] for label in each] for each in labels]
        writer.numbers += found
        self.counts[folder.name].update(number for each in found for number in each)

    def encode(self, folder: Path) -> None:
        super().encode(folder)
        self.strange.save(folder)
