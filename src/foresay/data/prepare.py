"""A corpus and a tokeniser -> token shards, made once and kept.

The vocabulary is learnt from the train part only. The folder's name is the SHA-256 of the sources' contents and of
every setting that matters, so the same text under another path is found again, and any change makes a new folder.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path

from foresay import parts
from foresay.data.cache import cache_folder, made_once
from foresay.data.corpus import Corpus, Found
from foresay.data.scans import Scans
from foresay.data.shards import SHARD, Shards
from foresay.data.source import BLOCK
from foresay.data.split import split
from foresay.data.writer import Progress, Writer
from foresay.errors import UserError
from foresay.text.saved import open_tokens
from foresay.text.tokens import Tokens

FORMAT = 1
LONGEST_LINE = 2**24  # bytes; such a line is held in memory with all its tokens


@dataclass(frozen=True)
class Prepared:
    """A corpus ready for training: the learnt tokeniser and the shards of each part."""

    folder: Path
    tokens: Tokens
    train: Shards
    valid: Shards | None  # None: share=0 and no valid given
    test: Shards | None
    notes: tuple[str, ...] = ()  # what the user should know: files that were left out


def prepare(
    corpus: Corpus,
    tokens: Tokens,
    seed: int,
    *,
    cache: Path | None = None,
    on_progress: Progress | None = None,
    block: int = BLOCK,
    shard: int = SHARD,
    learnt: bool = False,
) -> Prepared:
    """The shards of a corpus: opened when they are there, else made. `on_progress(stage, fraction)` by bytes.

    With `learnt` the vocabulary of `tokens` is used as it is: a new text for a model that is already trained.
    """
    tell = on_progress or (lambda stage, fraction: None)
    cache = cache or cache_folder()
    scans = Scans(cache, tell)
    found = corpus.find(scans)
    _check_lines(corpus, tokens, found)

    def write(folder: Path) -> None:
        Writer(corpus.unit, tokens, tell, block, shard, learnt).write(folder, split(corpus, found, seed))
        if changed := scans.changed():
            raise UserError(f"{changed.name} changed while it was read; run again when it is at rest")

    prepared = open_prepared(made_once(cache, _key(corpus, tokens, found, seed, learnt), write))
    skipped = [(name, one.skipped) for name, one in found.items() if one.skipped]
    notes = (f"data.{name}: {len(why)} files are left out; the first: {why[0]}" for name, why in skipped)
    return replace(prepared, notes=tuple(notes))


def open_prepared(folder: Path) -> Prepared:
    """What `prepare` left in a folder."""
    valid, test = (Shards(folder / name) if (folder / name).is_dir() else None for name in ("valid", "test"))
    return Prepared(folder, open_tokens(folder), Shards(folder / "train"), valid, test)


def _check_lines(corpus: Corpus, tokens: Tokens, found: dict[str, Found]) -> None:
    if tokens.cuts_anywhere and corpus.unit == "document":
        return
    for source, facts in (pair for one in found.values() for pair in one.sources):
        if facts.longest > LONGEST_LINE:
            raise UserError(
                f"{source.name}: line {facts.longest_at} has {facts.longest} bytes; allowed: {LONGEST_LINE}; break it "
                "into lines, or use tokens characters or bytes with data.unit=document"
            )


def _key(corpus: Corpus, tokens: Tokens, found: dict[str, Found], seed: int, learnt: bool) -> str:
    settings = {name: value for name, value in parts.describe(corpus).items() if name not in ("train", "valid", "test")}
    about = {
        "format": FORMAT,
        "corpus": settings,
        "tokens": parts.describe(tokens),
        "sources": {name: [facts.sha256 for _, facts in one.sources] for name, one in found.items()},
        "seed": seed if corpus.holdout == "seed" else None,
        "vocabulary": tokens.pieces(range(len(tokens))) if learnt else None,
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:40]
