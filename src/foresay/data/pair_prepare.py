"""Pairs and a tokeniser -> shards of both sides (row_prepare.py).

The vocabulary is learnt from the train part alone: one from both sides, or one from each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from foresay import parts
from foresay.data.pair_files import Pair, PairText
from foresay.data.pairs import Pairs
from foresay.data.prepare import SOURCE, Prepared, digest_of
from foresay.data.row_prepare import Kept, Preparing
from foresay.data.row_shards import RowWriter
from foresay.data.writer import Again, Progress
from foresay.text.tokens import UNK, Tokens

FORMAT = 1
# what people call the two columns of a table of pairs, where they name them
ROLES = ("source", "target", "src", "tgt", "trg", "input", "output", "question", "answer", "prompt", "response", "word")
LANGUAGES = ("english", "german", "french", "spanish", "italian", "chinese", "japanese", "russian")
CODES = ("en", "de", "fr", "es", "it", "zh", "ja", "ru", "nl", "pt", "cs", "pl", "ar")
HEADERS = frozenset((*ROLES, *LANGUAGES, *CODES, "pronunciation", "phonemes", "text", "summary", "title"))
LEAST = 0.6  # share of a source's tokens that must have stood in training sources
ANSWERS = {
    "lines": "two lines or more without a blank line between them",
    "play": "two speeches or more, each below its NAME:",
}


class PreparingPairs(Preparing):
    """A row is a source and a target."""

    corpus: Pairs
    noun, needs = "pairs", "a source and a target"

    def __init__(self, corpus: Pairs, tokens: Tokens, seed: int, tell: Progress | None = None, learnt: bool = False):
        super().__init__(corpus, tokens, seed, tell, learnt)
        own = corpus.source_tokens
        self.source: Tokens = self.tokens if own is None else own if learnt else parts.anew(own)

    def told(self, part: str, row: Pair) -> bytes:
        return "{}\0{}\0{}\0".format(*row).encode("utf-8", "surrogatepass")

    def texts(self, row: Pair) -> tuple[str, ...]:
        return row[1:]

    def about(self) -> dict[str, Any]:
        tokenisers = [self.tokens] if self.source is self.tokens else [self.tokens, self.source]
        vocabulary = [digest_of(one) for one in tokenisers] if self.learnt else None
        return {"pairs": FORMAT, "tokens": [one.told(self.learnt) for one in tokenisers], "vocabulary": vocabulary}

    def learn(self, folder: Path) -> None:
        if self.source is self.tokens:
            super().learn(folder)
            return
        if not self.learnt:
            self.tokens.learn(Again(lambda: self.sample(self.tokens, slice(1, 2))))
            self.source.learn(Again(lambda: self.sample(self.source, slice(0, 1))))
        self.tokens.save(folder)
        self.source.save(folder / SOURCE)

    def writer(self, folder: Path) -> RowWriter:
        return RowWriter(folder, len(self.tokens), source=len(self.source))

    def add(self, folder: Path, writer: RowWriter, name: str, block: Sequence[Pair]) -> None:
        lines, sources, targets = map(list, zip(*block, strict=True))
        source = self.ids_of(self.source, sources, lines, name, "source")
        target = self.ids_of(self.tokens, targets, lines, name, "target")
        writer.add(lines, target, targets, source=(source, sources))

    def notes(self, prepared: Prepared) -> Iterator[str]:
        train = self.found["train"]
        _, source, target = next(iter(train))
        if self.corpus.tabled and all(side.strip().lower() in HEADERS for side in (source, target)):
            columns = [target, source] if self.corpus.reverse else [source, target]
            yield (
                f"warning: the first line of {train.name}, {' and '.join(map(repr, columns))}, is read as a pair; if "
                f"it names the columns, say so: data.columns=[{', '.join(columns)}]"
            )
        if isinstance(train, Kept) and self.corpus.holds_out(self.found):
            trained = {row[1:] for row in self.rows("train")}
            held = [row[1:] in trained for row in self.rows("valid")]
            if any(held):
                yield (
                    f"warning: {sum(held):,} of {len(held):,} held-out pairs stand in train too, so what is measured "
                    "on them is known by heart; leave copies out, or give data.valid"
                )

    def nothing(self, text: PairText) -> str:
        if text.talk is not None and text.has_lines():
            wants = ANSWERS[text.talk]
            return f"{text.name} has lines, but none answers another; data.format={text.talk} wants {wants}"
        return super().nothing(text)


def coverage(ids: Iterable[int], known: Iterable[bool]) -> float:
    """The share of the tokens of a source that stood in training sources; <unk> never did."""
    flags, found = list(known), list(ids)
    return sum(id != UNK and flags[id] for id in found) / max(len(found), 1)
