"""Shards of tagged words: the words as any text has them, a sentence a document, and their tags beside them.

train/            words: ids, documents.bin, meta.json
train/tags/       their tags' ids, as many
train/lines.bin   int64: the line that each sentence begins on, for what is said about it
train/strange.*   the words that the vocabulary does not know, as they are spelt (strange.py)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np

from foresay.data.shards import Shards, ShardWriter
from foresay.data.strange import Strange
from foresay.errors import UserError


class TagShards(Shards):
    """The words of sentences; `tags` has their tags."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.tags, self.strange = Shards(folder / "tags"), Strange(folder, self.vocabulary)
        try:
            self.lines = np.fromfile(folder / "lines.bin", "<i8")
        except FileNotFoundError:
            self.lines = np.empty(0, np.int64)
        if len(self.lines) != self.documents or not np.array_equal(self.ends, self.tags.ends):
            raise UserError(f"{folder} is damaged: words and tags differ; delete {folder.parent} and prepare again")

    def sentence(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """The ids of the words and of the tags of one sentence, without what ends it in the file."""
        begin, end = int(self.ends[number - 1]) if number else 0, int(self.ends[number]) - 1
        return self.slice(begin, end), self.tags.slice(begin, end)

    def check_lengths(self, name: str, longest: int | None, setting: str) -> None:
        """Refuses a sentence that is longer than an encoder has positions for."""
        sizes = self.sizes
        if longest is not None and len(sizes) and sizes.max() > longest:
            at = int(sizes.argmax())
            raise UserError(
                f"{name}: line {self.lines[at]} begins a sentence of {sizes[at]} words; {setting} ends at {longest}: "
                "raise it, take sinusoidal positions, or divide the sentence"
            )

    @property
    def sizes(self) -> np.ndarray:
        """The words of each sentence."""
        return np.diff(np.asarray(self.ends), prepend=0) - 1


class TagWriter:
    """Writes the words and tags of one part into a folder."""

    def __init__(self, folder: Path, words: int, tags: int):
        self.folder, self.lines = folder, [np.empty(0, np.int64)]
        self.words, self.tags = ShardWriter(folder, words), ShardWriter(folder / "tags", tags)

    def add(self, lines: Sequence[int], words: list[np.ndarray], tags: list[np.ndarray], texts: Sequence[str]) -> None:
        """Appends sentences: the lines they begin on, the ids of words and tags, and the words as a text."""
        self.lines.append(np.array(lines, np.int64))
        self.words.add(words)
        self.tags.add(tags)
        self.words.meta.characters += sum(map(len, texts)) + len(texts)
        self.words.meta.bytes += sum(len(text.encode("utf-8", "replace")) for text in texts) + len(texts)

    def finish(self) -> int:
        """Puts everything on the disk; how many sentences there are."""
        np.concatenate(self.lines).astype("<i8").tofile(self.folder / "lines.bin")
        for writer in (self.words, self.tags):
            writer.finish()
        return self.words.meta.documents

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for writer in (self.words, self.tags):
            writer.__exit__(*error)
