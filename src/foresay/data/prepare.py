"""A corpus and a tokeniser -> token shards, made once and kept.

The vocabulary is learnt from the train part only. The folder's name is the SHA-256 of the sources' contents and of
every setting that matters, so the same text under another path is found again, and any change makes a new folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from foresay import parts
from foresay.data import reading
from foresay.data.cache import cache_folder, made_once
from foresay.data.corpus import Corpus, Found
from foresay.data.shards import SHARD, Shards, ShardWriter
from foresay.data.source import BLOCK, Facts, Source, scan
from foresay.data.split import Stretch, split
from foresay.errors import UserError
from foresay.text.saved import open_tokens
from foresay.text.tokens import Tokens

FORMAT = 1
LONGEST_LINE = 2**24  # bytes; such a line is held in memory with all its tokens
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Prepared:
    """A corpus ready for training: the learnt tokeniser and the shards of each part."""

    folder: Path
    tokens: Tokens
    train: Shards
    valid: Shards | None  # None: share=0 and no valid given
    test: Shards | None


def prepare(
    corpus: Corpus,
    tokens: Tokens,
    seed: int,
    *,
    cache: Path | None = None,
    on_progress: Progress | None = None,
    block: int = BLOCK,
    shard: int = SHARD,
) -> Prepared:
    """The shards of a corpus: opened when they are there, else made. `on_progress(stage, fraction)` by bytes."""
    tell = on_progress or (lambda stage, fraction: None)
    before: dict[Source, tuple[int, int]] = {}

    def scan_and_note(source: Source) -> Facts:
        before[source] = source.state()
        size = max(before[source][0], 1)
        read = 0

        def count(more: int) -> None:
            nonlocal read
            read += more
            tell(f"read {source.name}", read / size)

        return scan(source, count)

    found = corpus.find(scan_and_note)
    _check_lines(corpus, tokens, found)
    key = _key(corpus, tokens, found, seed)

    def write(folder: Path) -> None:
        Writer(corpus.unit, tokens, tell, block, shard).write(folder, split(corpus, found, seed))
        for source, state in before.items():
            if source.state() != state:
                raise UserError(f"{source.name} changed while it was read; run again when it is at rest")

    return open_prepared(made_once(cache or cache_folder(), key, write))


def open_prepared(folder: Path) -> Prepared:
    """What `prepare` left in a folder."""
    valid, test = (Shards(folder / name) if (folder / name).is_dir() else None for name in ("valid", "test"))
    return Prepared(folder, open_tokens(folder), Shards(folder / "train"), valid, test)


class Writer:
    """Learns the vocabulary and writes the shards of every part."""

    def __init__(self, unit: str, tokens: Tokens, tell: Progress, block: int, shard: int):
        self.unit, self.tell, self.block, self.shard = unit, tell, block, shard
        self.tokens = parts.anew(tokens)  # the caller's own stays as it is

    def write(self, folder: Path, stretches: dict[str, list[Stretch]]) -> None:
        """Fills an empty folder."""
        self.tokens.learn(self._sample(stretches["train"]))
        self.tokens.save(folder)
        for name, part in stretches.items():
            self._shards(folder / name, name, part)

    def _blocks(self, stretches: list[Stretch], stage: str) -> Iterator[reading.Block]:
        total = max(sum(stretch.stop - stretch.start for stretch in stretches), 1)
        done = 0
        if self.unit == "line":
            blocks = reading.lines(stretches, self.block)
        else:
            blocks = reading.documents(stretches, self.tokens.cuts_anywhere, self.block)
        for block in blocks:
            yield block
            done += block.read
            self.tell(stage, done / total)

    def _sample(self, stretches: list[Stretch]) -> Iterator[str]:
        """The train text, or blocks spread evenly over it when the tokeniser wants fewer characters."""
        total = sum(stretch.stop - stretch.start for stretch in stretches)
        wanted = total if self.tokens.sample is None else min(self.tokens.sample, total)
        given = passed = 0
        for block in self._blocks(stretches, "learn") if wanted else ():
            if given * total <= passed * wanted and block.texts:
                yield "\n".join(block.texts)
                given += block.read
            passed += block.read

    def _shards(self, folder: Path, name: str, stretches: list[Stretch]) -> None:
        writer = ShardWriter(folder, len(self.tokens), self.shard)
        for block in self._blocks(stretches, f"encode {name}"):
            if block.texts:
                writer.add(self.tokens.encode_many(block.texts), block.last)
                writer.meta.characters += block.characters
                writer.meta.bytes += block.bytes
        if writer.meta.tokens == writer.meta.documents:
            raise UserError(f"the {name} text gives no tokens; give more text or another tokeniser")
        writer.close()


def _check_lines(corpus: Corpus, tokens: Tokens, found: dict[str, Found]) -> None:
    if tokens.cuts_anywhere and corpus.unit == "document":
        return
    for source, facts in (pair for one in found.values() for pair in one.sources):
        if facts.longest > LONGEST_LINE:
            raise UserError(
                f"{source.name}: line {facts.longest_at} has {facts.longest} bytes; allowed: {LONGEST_LINE}; break it "
                "into lines, or use tokens characters or bytes with data.unit=document"
            )


def _key(corpus: Corpus, tokens: Tokens, found: dict[str, Found], seed: int) -> str:
    settings = {name: value for name, value in parts.describe(corpus).items() if name not in ("train", "valid", "test")}
    about = {
        "format": FORMAT,
        "corpus": settings,
        "tokens": parts.describe(tokens),
        "sources": {name: [facts.sha256 for _, facts in one.sources] for name, one in found.items()},
        "seed": seed if corpus.holdout == "seed" else None,
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:40]
