"""Train, valid and test as stretches of the sources, and what is held out when valid is not given.

tail: the last `share` of the bytes, cut after the newline at or before that point; where there is none in the second
half of what comes before, at a blank, else between two characters.
seed: lines, documents, or, of one long document, blocks of about 64 kB, chosen by a hash of (seed, number). Held-out
blocks leave gaps: each stretch between two gaps is a document.

The rows of a table are documents that are never cut: the tail begins with a whole one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from foresay.data.corpus import Corpus, Found
from foresay.data.scan import Facts
from foresay.data.source import Source
from foresay.errors import UserError

HELD_BLOCK = 2**16
_LOOK_BACK = 2**20


@dataclass(frozen=True)
class Stretch:
    """Bytes start..stop of a source's text; with `choice`, only those of its lines or rows that it chooses."""

    source: Source
    start: int
    stop: int
    choice: Choice | None = None


@dataclass(frozen=True)
class Choice:
    """Chooses by number: held-out ones when `held`, else the others."""

    seed: int
    stream: int  # which source
    share: float
    held: bool

    def chosen(self, first: int, count: int) -> np.ndarray:
        """(count,) bool for the numbers first, first + 1, ..."""
        return (uniform(self.seed, self.stream, first, count) < self.share) == self.held


Parts = dict[str, list[Stretch]]
Scanned = Sequence[tuple[Source, Facts]]


def split(corpus: Corpus, found: dict[str, Found], seed: int, held_block: int = HELD_BLOCK) -> Parts:
    """The stretches of train and, where there are any, of valid and test."""
    parts = {name: [_whole(*pair) for pair in one.sources] for name, one in found.items()}
    if "valid" not in parts and corpus.share > 0:
        sources = found["train"].sources
        if corpus.holdout == "tail":
            train, valid = _tail(sources, corpus.share, corpus.unit == "line")
        elif corpus.unit == "line":
            train, valid = _numbered(sources, corpus.share, seed)
        else:
            train, valid = _documents(sources, corpus.share, seed, held_block)
        if not train or not valid:
            raise UserError(
                f"data.train={corpus.train!r} is too small to hold out a share of {corpus.share}; "
                "give data.valid, or more text, or data.share=0"
            )
        parts["train"], parts["valid"] = train, valid
    return parts


def _whole(source: Source, facts: Facts) -> Stretch:
    return Stretch(source, facts.bom, facts.bytes)


def _tail(sources: Scanned, share: float, lines: bool) -> tuple[list[Stretch], list[Stretch]]:
    total = sum(facts.text_bytes for _, facts in sources)
    left = min(round(total * (1 - share)), total - 1)  # bytes that train may still take
    train: list[Stretch] = []
    valid: list[Stretch] = []
    for source, facts in sources:
        whole = _whole(source, facts)
        cut = facts.bytes
        if left < facts.text_bytes:
            cut = _cut(whole, facts.bom + left, lines or source.has_records) if left > 0 else facts.bom
        left = left - facts.text_bytes if cut == facts.bytes else 0
        if cut > whole.start:
            train.append(Stretch(source, whole.start, cut))
        if cut < whole.stop:
            valid.append(Stretch(source, cut, whole.stop))
    return train, valid


def _cut(whole: Stretch, boundary: int, between: bool) -> int:
    """The best place to cut at or before `boundary`; with `between`, only between two lines or rows."""
    back = boundary - whole.start
    start = whole.start if between else boundary - min((back + 1) // 2, _LOOK_BACK)
    mark = b"\0" if whole.source.has_records else b"\n"
    end = boundary
    while True:  # in steps, as a line may be long
        window = max(start, end - _LOOK_BACK)
        content = _bytes(whole.source, window, end)
        place = content.rfind(mark)
        if place >= 0:
            return window + place + 1
        if window == start:
            break
        end = window
    if between:
        return whole.start
    blank = content.rfind(b" ")
    if blank >= 0:
        return window + blank + 1
    while boundary > whole.start and _bytes(whole.source, boundary, boundary + 1)[0] & 0xC0 == 0x80:
        boundary -= 1
    return boundary


def _numbered(sources: Scanned, share: float, seed: int) -> tuple[list[Stretch], list[Stretch]]:
    def chosen(held: bool) -> list[Stretch]:
        return [
            Stretch(source, facts.bom, facts.bytes, Choice(seed, i, share, held))
            for i, (source, facts) in enumerate(sources)
        ]

    return chosen(False), chosen(True)


def _documents(sources: Scanned, share: float, seed: int, block: int) -> tuple[list[Stretch], list[Stretch]]:
    """Rows of tables and plain files by their number; of one plain file alone, its blocks."""
    tables = [pair for pair in sources if pair[0].has_records]
    plain = [_whole(*pair) for pair in sources if not pair[0].has_records]
    if len(sources) == len(plain) == 1:
        plain = _blocks(*sources[0], block)
    files = uniform(seed, len(tables), 0, len(plain))
    share = reached(share, [uniform(seed, i, 0, facts.documents) for i, (_, facts) in enumerate(tables)] + [files])
    train, valid = _numbered(tables, share, seed) if share else ([], [])
    train += _merged([stretch for stretch, value in zip(plain, files, strict=True) if value >= share])
    valid += _merged([stretch for stretch, value in zip(plain, files, strict=True) if value < share])
    return train, valid


def reached(share: float, values: list[np.ndarray]) -> float:
    """The share moved so that at least one is held out and one kept, the nearest to being so; 0 for a single one."""
    lowest = min(float(one.min()) for one in values if len(one))
    highest = max(float(one.max()) for one in values if len(one))
    return min(max(share, lowest + 1e-12), highest) if highest > lowest else 0.0


def _blocks(source: Source, facts: Facts, size: int) -> list[Stretch]:
    """Stretches of `size` bytes and up to the end of the line."""
    blocks: list[Stretch] = []
    start = end = facts.bom
    with source.open(start) as stream:
        while content := stream.read(_LOOK_BACK):
            place = max(start + size - end, 0)  # where in `content` a newline ends the stretch
            while (newline := content.find(b"\n", place)) >= 0:
                stop = end + newline + 1
                blocks.append(Stretch(source, start, stop))
                start, place = stop, newline + 1 + size
            end += len(content)
    return [*blocks, Stretch(source, start, end)] if start < end else blocks


def _merged(stretches: list[Stretch]) -> list[Stretch]:
    """Neighbours of the same source joined."""
    merged: list[Stretch] = []
    for stretch in stretches:
        if merged and merged[-1].source == stretch.source and merged[-1].stop == stretch.start:
            stretch = Stretch(stretch.source, merged.pop().start, stretch.stop)
        merged.append(stretch)
    return merged


def _bytes(source: Source, start: int, stop: int) -> bytes:
    with source.open(start) as stream:
        return stream.read(stop - start)


def uniform(seed: int, stream: int, first: int, count: int) -> np.ndarray:
    """(count,) numbers in [0, 1), each a hash of (seed, stream, its number): splitmix64."""
    start = int(np.random.SeedSequence([seed, stream]).generate_state(1, np.uint64)[0])
    with np.errstate(over="ignore"):
        z = np.uint64(start) + (np.arange(first + 1, first + count + 1, dtype=np.uint64)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) / float(2**53)
