"""Rows with an answer and a tokeniser -> shards, made once and kept, as prepare.py does for texts.

Every file is read whole, and every mistake in it found, before anything is written. What is learnt (vocabularies,
labels, tags) is learnt from train alone, by copies: the caller's tokenisers stay as they are. The kinds differ in what
a row holds: what of it is hashed (`told`), which texts it has (`texts`), and how some are written (`add`).

Rows are gone through several times: checked and hashed, learnt from, encoded. The first time keeps them where they are
few; larger files are read again each time, so that memory does not grow with them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from foresay import parts
from foresay.data.cache import cache_folder, made_once
from foresay.data.prepare import Prepared, digest_of, open_prepared
from foresay.data.row_shards import RowWriter
from foresay.data.rows import PARTS, Rows
from foresay.data.writer import Again, Progress
from foresay.errors import UserError
from foresay.text.tokens import Tokens

BLOCK = 4096  # rows encoded at a time
ROOM = 2**24  # characters of the rows that are kept, of all parts together
ROW = 100  # characters that a row takes beside its own


class Kept(list[Any]):
    """The rows of a text in memory."""

    def __init__(self, name: str):
        super().__init__()
        self.name = name


class Preparing:
    """One preparation, on its way from files to shards; with `learnt` the vocabularies are used as they are."""

    noun = "rows"
    needs = "rows"  # what an empty file should hold
    at = "line"  # what a row's number counts
    block = BLOCK

    def __init__(self, corpus: Rows, tokens: Tokens, seed: int, tell: Progress | None = None, learnt: bool = False):
        self.corpus, self.seed, self.learnt = corpus, seed, learnt
        self.tell = tell or (lambda stage, fraction: None)
        self.tokens: Tokens = tokens if learnt else parts.anew(tokens)
        self.found = corpus.find(seed)
        self.room = ROOM
        self.digests, self.sizes = {}, {}  # of every part: SHA-256, characters
        for name, text in list(self.found.items()):
            self.digests[name], self.sizes[name] = self._scanned(name, text)

    def done(self, cache: Path | None = None) -> Prepared:
        """The shards: opened when they are there, else made."""
        prepared = open_prepared(made_once(cache or cache_folder(), self.key(), self.write))
        return replace(prepared, notes=tuple(self.notes(prepared)))

    def notes(self, prepared: Prepared) -> Iterator[str]:
        """What the user should know of it, before anything is learnt or measured."""
        yield from ()

    def told(self, part: str, row: Any) -> bytes:
        """What stands for a row in the hash of its part."""
        raise AssertionError

    def texts(self, row: Any) -> tuple[str, ...]:
        """The texts of a row that tokens are made of."""
        raise AssertionError

    def size_of(self, row: Any) -> int:
        """What a row takes in memory, in characters."""
        return sum(map(len, self.texts(row)))

    def add(self, folder: Path, writer: Any, name: str, block: Sequence[Any]) -> None:
        """Writes some rows of the file `name`."""
        raise AssertionError

    def writer(self, folder: Path) -> RowWriter:
        raise AssertionError

    def about(self) -> dict[str, Any]:
        """What is done with the rows, for the name of the folder."""
        tokens, vocabulary = self.tokens.told(self.learnt), digest_of(self.tokens) if self.learnt else None
        return {"tokens": tokens, "vocabulary": vocabulary}

    def key(self) -> str:
        """The name of the folder: a hash of the rows and of all that is done with them."""
        held_out = [self.corpus.share, self.seed] if self.corpus.holds_out(self.found) else None
        about = self.about() | {"texts": self.digests, "held out": held_out}
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:40]

    def write(self, folder: Path) -> None:
        self.learn(folder)
        for name in PARTS:
            if name in self.found or (name == "valid" and self.corpus.holds_out(self.found)):
                self.encode(folder / name)

    def learn(self, folder: Path) -> None:
        """Learns what is not learnt yet, and saves it."""
        if not self.learnt:
            self.tokens.learn(Again(lambda: self.sample(self.tokens)))
        self.tokens.save(folder)

    def sample(self, tokens: Tokens, sides: slice = slice(None)) -> Iterator[str]:
        """The training texts, or rows spread evenly over them when the tokeniser wants fewer characters."""
        total = self.sizes["train"]
        wanted = total if tokens.sample is None else min(tokens.sample, total)
        given = passed = 0
        for texts in map(self.texts, self.rows("train")):
            size = sum(map(len, texts))
            if given * total <= passed * wanted:
                yield from texts[sides]
                given += size
            passed += size
            self.tell("learn", min(passed / max(total, 1), 1.0))

    def rows(self, part: str) -> Iterator[Any]:
        return self.corpus.rows(part, self.seed, self.found)

    def ids_of(self, tokens: Tokens, texts: Sequence[str], lines: Sequence[int], name: str, what: str) -> list[Any]:
        """The ids of texts; one that its tokeniser makes nothing of is refused."""
        ids: list[np.ndarray] = tokens.encode_many(texts)
        for line, own in zip(lines, ids, strict=True):
            if not len(own):
                raise UserError(f"{name}: line {line} has a {what} without tokens; mend it, or take another tokeniser")
        return ids

    def encode(self, folder: Path) -> None:
        """Writes a part."""
        part, rows, done = folder.name, self.rows(folder.name), 0
        text, total = self.found.get(part, self.found["train"]), self.sizes.get(part, self.sizes["train"])
        with self.writer(folder) as writer:
            while block := list(islice(rows, self.block)):
                self.add(folder, writer, text.name, block)
                done += sum(len(own) for row in block for own in self.texts(row))
                self.tell(f"encode {part}", min(done / max(total, 1), 1.0))
            written = writer.finish()
        if not written:
            raise UserError(
                f"data.train={self.corpus.train!r} gives no {part} {self.noun}; give more {self.noun}, data.valid, or "
                "another data.share"
            )

    def _scanned(self, part: str, text: Any) -> tuple[str, int]:
        """SHA-256 of all rows, and their characters; a mistake anywhere is found here."""
        digest, size, count, kept = hashlib.sha256(), 0, 0, Kept(text.name)
        for row in text:
            digest.update(self.told(part, row))
            size, count = size + self.size_of(row), count + 1
            if size + ROW * count <= self.room:
                kept.append(row)
            else:
                kept.clear()
        if not count:
            raise UserError(self.nothing(text))
        if kept:
            self.room -= size + ROW * count
            self.found[part] = kept
        return digest.hexdigest(), size

    def nothing(self, text: Any) -> str:
        """What is wrong with a file without rows."""
        return f"{text.name} is empty; give lines with {self.needs}"
