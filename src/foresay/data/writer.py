"""Stretches of text -> the vocabulary and the token shards, in a folder that is empty at first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from foresay import parts
from foresay.data import reading
from foresay.data.shards import SHARD, ShardWriter
from foresay.data.source import BLOCK
from foresay.data.split import Parts, Stretch
from foresay.errors import UserError
from foresay.text.encoder import Encoders
from foresay.text.tokens import Tokens

Progress = Callable[[str, float], None]  # stage, fraction
Encode = Callable[[Iterable[Sequence[str]]], Iterator[list[np.ndarray]]]
_WORTH = 2**25  # bytes of text from which processes of their own pay for their start


class Writer:
    """Learns the vocabulary from the train part, unless it is `learnt`, and writes the shards of every part."""

    def __init__(
        self,
        unit: str,
        tokens: Tokens,
        tell: Progress,
        block: int = BLOCK,
        shard: int = SHARD,
        learnt: bool = False,
    ):
        self.unit, self.tell, self.block, self.shard, self.learnt = unit, tell, block, shard, learnt
        self.tokens: Tokens = tokens if learnt else parts.anew(tokens)  # the caller's own stays as it is

    def write(self, folder: Path, stretches: Parts) -> None:
        """Fills an empty folder."""
        if not self.learnt:
            self.tokens.learn(self._sample(stretches["train"]))
        self.tokens.save(folder)
        if self.tokens.quick or sum(map(_size, stretches.values())) < _WORTH:
            self._encode_all(folder, stretches, lambda batches: map(self.tokens.encode_many, batches))
        else:
            with Encoders(folder) as encoders:
                self._encode_all(folder, stretches, encoders.encode)

    def _encode_all(self, folder: Path, stretches: Parts, encode: Encode) -> None:
        for name, part in stretches.items():
            under_way: deque[reading.Block] = deque()
            with ShardWriter(folder / name, len(self.tokens), self.shard) as writer:
                for ids in encode(self._noted(part, f"encode {name}", under_way)):
                    block = under_way.popleft()
                    writer.add(ids, block.last)
                    writer.meta.characters += block.characters
                    writer.meta.bytes += block.bytes
                if writer.meta.tokens == writer.meta.documents:
                    raise UserError(f"the {name} text gives no tokens; give more text or another tokeniser")
                writer.finish()

    def _noted(self, part: list[Stretch], stage: str, under_way: deque[reading.Block]) -> Iterator[list[str]]:
        for block in self._blocks(part, stage):
            if block.texts:
                under_way.append(block)
                yield block.texts

    def _sample(self, part: list[Stretch]) -> Iterator[str]:
        """The text, or blocks spread evenly over it when the tokeniser wants fewer characters."""
        total = _size(part)
        wanted = total if self.tokens.sample is None else min(self.tokens.sample, total)
        given = passed = 0
        for block in self._blocks(part, "learn") if wanted else ():
            if given * total <= passed * wanted and block.texts:
                yield "\n".join(block.texts)
                given += block.read
            passed += block.read

    def _blocks(self, part: list[Stretch], stage: str) -> Iterator[reading.Block]:
        total, done = max(_size(part), 1), 0
        if self.unit == "line":
            blocks = reading.lines(part, self.block)
        else:
            blocks = reading.documents(part, self.tokens.cuts_anywhere, self.block)
        for block in blocks:
            yield block
            done += block.read
            self.tell(stage, done / total)


def _size(part: list[Stretch]) -> int:
    return sum(stretch.stop - stretch.start for stretch in part)
