"""Tagged words and a tokeniser -> shards of words and of tags (row_prepare.py).

A word is one token: tokenisers that cut words into pieces are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from foresay.data.row_prepare import Preparing
from foresay.data.row_shards import RowWriter
from foresay.data.strange import StrangeWriter
from foresay.data.tag_files import Tagged
from foresay.data.tag_set import Met, TagSet
from foresay.data.tags import Tags
from foresay.data.writer import Progress
from foresay.errors import UserError
from foresay.text.tokens import SPECIALS, UNK, Tokens

FORMAT = 2


class PreparingTags(Preparing):
    """A row is a sentence: its words and their tags."""

    corpus: Tags
    noun = "sentences"

    def __init__(self, corpus: Tags, tokens: Tokens, seed: int, tell: Progress | None, learnt: bool):
        self.met: dict[str, Met] = {}
        super().__init__(corpus, tokens, seed, tell, learnt)
        self.tags: TagSet = corpus.learn(self.found, self.met)

    def told(self, part: str, row: Tagged) -> bytes:
        self.met.setdefault(part, Met()).add(row.tags)
        return "\0".join([str(row.lines[0]), *row.words, "", *row.tags, ""]).encode("utf-8", "surrogatepass")

    def texts(self, row: Tagged) -> tuple[str, ...]:
        return (" ".join(row.words),)

    def about(self) -> dict[str, Any]:
        own = [self.tags.scheme, self.tags.names, self.corpus.read.rewrite]
        return super().about() | {"tags": FORMAT, "set": own}

    def learn(self, folder: Path) -> None:
        super().learn(folder)
        self.tags.save(folder)

    def rows(self, part: str) -> Iterator[Tagged]:
        return (self.corpus.written(one, self.tags) for one in super().rows(part))

    def writer(self, folder: Path) -> RowWriter:
        self.strange = StrangeWriter(self.tokens)
        return RowWriter(folder, len(self.tokens), tags=len(self.tags))

    def add(self, folder: Path, writer: RowWriter, name: str, block: Sequence[Tagged]) -> None:
        tags = [np.array([self.tags.ids[tag] for tag in one.tags], np.uint32) for one in block]
        texts, words = [" ".join(one.words) for one in block], self._ids(name, block)
        self.strange.add(words, (one.words for one in block))
        writer.add([one.lines[0] for one in block], words, texts, tags=(tags, ()))

    def encode(self, folder: Path) -> None:
        super().encode(folder)
        self.strange.save(folder)

    def nothing(self, text: Any) -> str:
        return f"{text.name} has no words; give lines with a word and its tag"

    def _ids(self, name: str, block: Sequence[Tagged]) -> list[np.ndarray]:
        ids = word_ids(self.tokens, [one.words for one in block])
        for sentence, found in zip(block, ids, strict=True):
            if found is None:
                cut = next(n for n, word in enumerate(sentence.words) if word_ids(self.tokens, [[word]])[0] is None)
                raise UserError(
                    f"{name}: line {sentence.lines[cut]}: the tokens cut the word {sentence.words[cut]!r} into pieces "
                    "or to nothing, and a tag needs one whole word; set tokens=blanks"
                )
        return [found for found in ids if found is not None]


def word_ids(tokens: Tokens, sentences: Sequence[Sequence[str]]) -> list[np.ndarray | None]:
    """The ids of the words of each sentence, one a word; None where the tokeniser cuts one of them.

    A word that holds a control mark, or white space within, is unknown.
    """
    plain = [[_plain(word) for word in words] for words in sentences]
    distinct = sorted({word for words in plain for word in words if word})
    pieces = dict(zip(distinct, tokens.encode_many(distinct), strict=True))
    if any(len(ids) != 1 for ids in pieces.values()):
        whole = {word: ids for word, ids in pieces.items() if len(ids) == 1}
        return [_joined(words, whole) if all(word in whole for word in words if word) else None for words in plain]
    return [_joined(words, pieces) for words in plain]


def _joined(words: Sequence[str], pieces: dict[str, np.ndarray]) -> np.ndarray:
    return np.array([int(pieces[word][0]) if word else UNK for word in words], np.uint32)


def _plain(word: str) -> str:
    """The word, or nothing where no text gives it as one token."""
    strange = any(map(str.isspace, word)) or any(mark in word for mark in SPECIALS)
    return "" if strange else word
