"""Tagged words and a tokeniser -> shards of words and of tags (row_prepare.py).

A word is one token: tokenisers that cut words into pieces are refused.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, compress, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from foresay.data.prepare import Prepared
from foresay.data.row_prepare import Preparing
from foresay.data.row_shards import RowWriter
from foresay.data.spans import broken, odd_among, scheme_of
from foresay.data.strange import StrangeWriter
from foresay.data.tag_files import Tagged
from foresay.data.tag_set import Met, TagSet
from foresay.data.tags import Tags
from foresay.data.writer import Progress
from foresay.errors import UserError
from foresay.text.tokens import SPECIALS, UNK, Tokens

FORMAT = 2
_STRANGE = re.compile("|".join([r"\s", *map(re.escape, SPECIALS)]))  # what no text gives as one token


class PreparingTags(Preparing):
    """A row is a sentence: its words and their tags."""

    corpus: Tags
    noun = "sentences"

    def __init__(self, corpus: Tags, tokens: Tokens, seed: int, tell: Progress | None, learnt: bool):
        self.met = defaultdict[str, Met](Met)
        super().__init__(corpus, tokens, seed, tell, learnt)
        self.tags: TagSet = corpus.learn(self.found, self.met)

    def told(self, part: str, row: Tagged) -> bytes:
        self.met[part].add(row.tags)
        return "\0".join([str(row.lines[0]), *row.words, "", *row.tags, ""]).encode("utf-8", "surrogatepass")

    def texts(self, row: Tagged) -> tuple[str, ...]:
        return (" ".join(row.words),)

    def about(self) -> dict[str, Any]:
        own = [self.tags.scheme, self.tags.names, self.corpus.read.rewrite]
        return super().about() | {"tags": FORMAT, "set": own}

    def learn(self, folder: Path) -> None:
        super().learn(folder)
        self.tags.save(folder)

    def notes(self, prepared: Prepared) -> Iterator[str]:
        """How many tags of each part `rewrite` has mended; or why almost spans are read as none."""
        read, met = self.corpus.read, self.met
        if self.tags.scheme == "none" and read.scheme == "auto" and (odd := sorted(odd_among(self.tags.names))):
            yield (
                f"warning: the tags are not read as spans, as {odd[0]} writes none; mend it, or set data.scheme=none "
                "where they are no spans"
            )
        scheme = scheme_of(met["train"].tags) if read.scheme == "auto" else read.scheme
        for name, text in self.found.items():
            if read.rewrite is None or met[name].keeps(scheme):
                continue
            places = [(one.lines[place], one.tags[place]) for one in text for place in {*broken(one.tags, scheme)}]
            if places:
                line, tag = min(places)
                many, were = (f"{len(places):,} tags", "were") if len(places) > 1 else ("1 tag", "was")
                yield (
                    f"data.{name}: {many} that broke {scheme.upper()} {were} mended (data.rewrite={read.rewrite}), the "
                    f"first at line {line}: {tag}"
                )

    def rows(self, part: str) -> Iterator[Tagged]:
        return (self.corpus.written(one, self.tags) for one in super().rows(part))

    def writer(self, folder: Path) -> RowWriter:
        self.strange = StrangeWriter(self.tokens)
        return RowWriter(folder, len(self.tokens), tags=len(self.tags))

    def add(self, folder: Path, writer: RowWriter, name: str, block: Sequence[Tagged]) -> None:
        tags = by_row([one.tags for one in block], self.tags.ids)
        texts, words = [" ".join(one.words) for one in block], self._ids(name, block)
        self.strange.add(words, lambda row: block[row].words)
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
    distinct = sorted(set(chain.from_iterable(sentences)))
    plain = [word for word in distinct if word and not _STRANGE.search(word)]
    known = dict.fromkeys(distinct, UNK)
    for word, own in zip(plain, tokens.encode_many(plain), strict=True):
        if len(own) == 1:
            known[word] = int(own[0])
        else:
            del known[word]
    if len(known) == len(distinct):
        return [*by_row(sentences, known)]
    whole = [all(word in known for word in words) for words in sentences]
    rows = iter(by_row(list(compress(sentences, whole)), known))
    return [next(rows) if one else None for one in whole]


def by_row(rows: Sequence[Sequence[str]], numbers: dict[str, int]) -> list[np.ndarray]:
    """The numbers of the names in each row, (T,) of uint32; looked up all at once."""
    ends = [0, *accumulate(map(len, rows))]
    flat = np.fromiter(map(numbers.__getitem__, chain.from_iterable(rows)), np.uint32, ends[-1])
    return [flat[begin:end] for begin, end in pairwise(ends)]
