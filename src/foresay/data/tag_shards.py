"""Shards of tagged words: the words as any text has them, a sentence a document, and their tags beside them.

train/            words: ids, documents.bin, meta.json, and lines.bin as row_shards.py has it
train/tags/       their tags' ids, as many
train/strange.*   the words that the vocabulary does not know, as they are spelt (strange.py)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from foresay.data.row_shards import RowShards, lengths
from foresay.data.shards import Shards
from foresay.data.strange import Strange

REMEDY = "raise it, take sinusoidal positions, or divide the sentence"


class TagShards(RowShards):
    """The words of sentences; `tags` has their tags."""

    differ = "words and tags"

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.tags, self.strange = Shards(folder / "tags"), Strange(folder, self.vocabulary)
        self.check(np.array_equal(self.ends, self.tags.ends))

    def sentence(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """The ids of the words and of the tags of one sentence, without what ends it in the file."""
        begin, end = int(self.ends[number - 1]) if number else 0, int(self.ends[number]) - 1
        return self.slice(begin, end), self.tags.slice(begin, end)

    def check_lengths(self, name: str, longest: int | None, setting: str, remedy: str = REMEDY) -> None:
        """Refuses a sentence that is longer than there are positions for."""
        what = f"begins a sentence of {{}} words; {setting} ends at {{}}"
        self.refuse_above(longest, self.sizes, name, what, remedy)

    @property
    def sizes(self) -> np.ndarray:
        """The words of each sentence."""
        return lengths(self) - 1
