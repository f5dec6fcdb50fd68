"""Stretches of text -> the vocabulary and the token shards, in a folder that is empty or was left half done."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from foresay import parts
from foresay.data import reading
from foresay.data.corpus import Corpus
from foresay.data.duplicates import Seen
from foresay.data.shards import SHARD, ShardWriter
from foresay.data.source import BLOCK
from foresay.data.split import Parts, Stretch
from foresay.errors import UserError
from foresay.text.encoder import Encoders
from foresay.text.ray_encoder import RayEncoders
from foresay.text.tokens import Tokens

Progress = Callable[[str, float], None]  # stage, fraction
Encode = Callable[[Iterable[Sequence[str]]], Iterator[list[np.ndarray]]]
KEEP_EVERY = 10.0  # seconds between two notes of what is safely written
_WORTH = 2**25  # bytes of text from which processes of their own pay for their start


class Writer:
    """Learns the vocabulary from the train part, unless it is `learnt`, and writes the shards of every part.

    A folder that an earlier writer left half done is gone on with: parts that are whole stay, the part that was being
    written goes on after the last block that was kept. Blocks are read again up to there, but not encoded. With `ray`
    the machines of a cluster encode.
    """

    def __init__(
        self,
        corpus: Corpus,
        tokens: Tokens,
        tell: Progress,
        block: int = BLOCK,
        shard: int = SHARD,
        learnt: bool = False,
        ray: bool = False,
    ):
        self.unit, self.drop = corpus.unit, corpus.read.duplicates == "drop"
        self.tell, self.block, self.shard, self.learnt, self.ray = tell, block, shard, learnt, ray
        self.tokens: Tokens = tokens if learnt else parts.anew(tokens)  # the caller's own stays as it is
        self.seen = Seen()
        self.repeated: dict[str, int] = {}  # part -> texts that stand in train before

    def write(self, folder: Path, stretches: Parts) -> None:
        """Fills a folder that is empty or was left half done."""
        if (folder / "text.json").is_file():  # written when the vocabulary is whole
            self.tokens.load(folder)
        else:
            if not self.learnt:
                self.tokens.learn(Again(lambda: self._sample(stretches["train"])))
            self.tokens.save(folder)
        if self.ray:
            with RayEncoders(folder) as encoders:
                self._encode_all(folder, stretches, encoders.encode)
        elif self.tokens.quick or sum(map(_size, stretches.values())) < _WORTH:
            self._encode_all(folder, stretches, lambda batches: map(self.tokens.encode_many, batches))
        else:
            with Encoders(folder) as encoders:
                self._encode_all(folder, stretches, encoders.encode)

    def _encode_all(self, folder: Path, stretches: Parts, encode: Encode) -> None:
        for name, part in stretches.items():
            if not (folder / name / "meta.json").is_file():
                self._encode_part(folder / name, part, encode)
            elif name == "train":  # an earlier writer's work; the other parts ask what it held
                for _ in self._watched(part, name):
                    pass

    def _encode_part(self, folder: Path, part: list[Stretch], encode: Encode) -> None:
        under_way: deque[reading.Block] = deque()
        kept = time.monotonic()
        with ShardWriter(folder, len(self.tokens), self.shard) as writer:
            done = writer.notes.get("blocks", 0)
            for ids in encode(_noted(islice(self._watched(part, folder.name), done, None), under_way)):
                block = under_way.popleft()
                writer.add(ids, block.last)
                writer.meta.characters += block.characters
                writer.meta.bytes += block.bytes
                writer.notes["blocks"] = writer.notes.get("blocks", 0) + 1
                if time.monotonic() - kept > KEEP_EVERY:
                    writer.keep()
                    kept = time.monotonic()
            if writer.meta.tokens == writer.meta.documents:
                remedy = (
                    "more text" if folder.name == "train" else f"data.{folder.name}, another data.share, more text,"
                )
                raise UserError(f"the {folder.name} text gives no tokens; give {remedy} or another tokeniser")
            writer.meta.repeated = self.repeated[folder.name]
            writer.finish()

    def _watched(self, part: list[Stretch], name: str) -> Iterator[reading.Block]:
        """The blocks that hold text; of train, without copies of earlier texts where those are dropped.

        Blocks of the other parts are told how many of their texts stand in train.
        """
        blocks, train = self._blocks(part, f"encode {name}"), name == "train"
        for block in reading.watched(blocks, self.seen, drop=train and self.drop, remember=train):
            self.repeated[name] = self.repeated.get(name, 0) + block.repeated
            if block.texts:
                yield block

    def _sample(self, part: list[Stretch]) -> Iterator[str]:
        """The text, or blocks spread evenly over it when the tokeniser wants fewer characters."""
        total = _size(part)
        wanted = total if self.tokens.sample is None else min(self.tokens.sample, total)
        between = "" if self.tokens.cuts == "anywhere" else "\n"  # characters would learn the newline
        given = passed = 0
        blocks = self._blocks(part, "learn") if wanted else ()
        for block in reading.watched(blocks, Seen(), drop=True) if self.drop else blocks:
            if given * total <= passed * wanted and block.texts:
                yield between.join(block.texts)
                given += block.read
            passed += block.read

    def _blocks(self, part: list[Stretch], stage: str) -> Iterator[reading.Block]:
        total, done = max(_size(part), 1), 0
        if self.unit == "line":
            blocks = reading.lines(part, self.block)
        else:
            blocks = reading.documents(part, self.tokens.cuts, self.block)
        for block in blocks:
            yield block
            done += block.read
            self.tell(stage, done / total)


class Again:
    """A stream of texts that can be gone through any number of times."""

    def __init__(self, begin: Callable[[], Iterator[str]]):
        self.begin = begin

    def __iter__(self) -> Iterator[str]:
        return self.begin()


def _noted(blocks: Iterator[reading.Block], under_way: deque[reading.Block]) -> Iterator[list[str]]:
    for block in blocks:
        under_way.append(block)
        yield block.texts


def _size(part: list[Stretch]) -> int:
    return sum(stretch.stop - stretch.start for stretch in part)
