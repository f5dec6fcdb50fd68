"""A corpus and a tokeniser -> token shards, made once and kept.

The vocabulary is learnt from the train part only. The folder's name is the SHA-256 of the sources' contents and of
every setting that matters, so the same text under another path is found again, and any change makes a new folder.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from foresay.data.cache import cache_folder, made_once
from foresay.data.corpus import Corpus, Found
from foresay.data.labels import Labels
from foresay.data.levels import LevelRows
from foresay.data.pair_shards import opened
from foresay.data.pairs import Pairs
from foresay.data.reading import LONGEST_LINE
from foresay.data.scans import Scans
from foresay.data.series import Series
from foresay.data.shards import SHARD, Shards
from foresay.data.source import BLOCK
from foresay.data.speech import Keywords, Speech
from foresay.data.split import split
from foresay.data.tag_set import FILE as TAGS
from foresay.data.tag_set import TagSet, open_tags
from foresay.data.tags import Tags
from foresay.data.writer import Progress, Writer
from foresay.errors import UserError, counted
from foresay.text.saved import open_tokens
from foresay.text.tokens import Tokens

FORMAT = 2
_MANY = 0.01  # the share of copies that is worth a word
SOURCE = "source_tokens"  # the folder of a tokeniser that the source of pairs has for itself


@dataclass(frozen=True)
class Prepared:
    """A corpus ready for training: the learnt tokeniser and the shards of each part."""

    folder: Path
    tokens: Tokens
    train: Shards
    valid: Shards | None  # None: share=0 and no valid given
    test: Shards | None
    notes: tuple[str, ...] = ()  # what the user should know: files that were left out
    source_tokens: Tokens | None = None  # of pairs whose source has a vocabulary of its own
    tags: TagSet | None = None  # of words with tags


def prepare(
    corpus: Corpus | Pairs | Tags | Labels | LevelRows | Series | Speech,
    tokens: Tokens,
    seed: int,
    *,
    cache: Path | None = None,
    on_progress: Progress | None = None,
    block: int = BLOCK,
    shard: int = SHARD,
    learnt: bool = False,
    ray: bool = False,
) -> Prepared:
    """The shards of a corpus: opened when they are there, else made. `on_progress(stage, fraction)` by bytes.

    With `learnt` the vocabulary of `tokens` is used as it is: a new text for a model that is already trained. With
    `ray` a text is encoded on the machines of a Ray cluster, to the same bytes.
    """
    if ray and not isinstance(corpus, Corpus):
        raise UserError("ray encodes plain text, and this is of another kind; leave it out")
    if isinstance(corpus, Series):
        from foresay.data.series_prepare import PreparingSeries  # it imports this module

        return PreparingSeries(corpus, tokens, seed, on_progress, learnt).done(cache)
    if not isinstance(corpus, Corpus):
        return _preparing(corpus)(corpus, tokens, seed, on_progress, learnt).done(cache)
    tell = on_progress or (lambda stage, fraction: None)
    cache = cache or cache_folder()
    scans = Scans(cache, tell)
    found = corpus.find(scans)
    _check_lines(corpus, tokens, found)

    def write(folder: Path) -> None:
        Writer(corpus, tokens, tell, block, shard, learnt, ray).write(folder, split(corpus, found, seed))
        if changed := scans.changed():
            raise UserError(f"{changed.name} changed while it was read; run again when it is at rest")

    prepared = open_prepared(made_once(cache, _key(corpus, tokens, found, seed, learnt), write))
    return replace(prepared, notes=tuple(_notes(corpus, found, prepared)))


def _preparing(corpus: Pairs | Tags | Labels | LevelRows | Speech) -> Any:
    """Who makes shards of such rows; they import this module."""
    if isinstance(corpus, Pairs):
        from foresay.data.pair_prepare import PreparingPairs as Found
    elif isinstance(corpus, Tags):
        from foresay.data.tag_prepare import PreparingTags as Found
    elif isinstance(corpus, Keywords):
        from foresay.data.speech_prepare import PreparingKeywords as Found
    elif isinstance(corpus, Speech):
        from foresay.data.speech_prepare import PreparingSpeech as Found
    elif isinstance(corpus, LevelRows):
        from foresay.data.level_prepare import PreparingLevels as Found
    else:
        from foresay.data.label_prepare import PreparingLabels as Found
    return Found


def open_prepared(folder: Path) -> Prepared:
    """What `prepare` left in a folder."""
    valid, test = (opened(folder / name) if (folder / name).is_dir() else None for name in ("valid", "test"))
    own = open_tokens(folder / SOURCE) if (folder / SOURCE).is_dir() else None
    tags = open_tags(folder) if (folder / TAGS).is_file() else None
    return Prepared(folder, open_tokens(folder), opened(folder / "train"), valid, test, source_tokens=own, tags=tags)


def _notes(corpus: Corpus, found: dict[str, Found], prepared: Prepared) -> Iterator[str]:
    """What was left out, replaced or met twice."""
    dropped = corpus.read.duplicates == "drop"
    for name, one in found.items():
        if one.skipped:
            yield f"data.{name}: {counted(len(one.skipped), 'file')} left out; the first: {one.skipped[0]}"
        if replaced := sum(facts.replaced for _, facts in one.sources):
            yield f"data.{name}: {counted(replaced, 'place')} that held no {corpus.read.encoding} became U+FFFD"
        if broken := sum(facts.broken for _, facts in one.sources):
            yield f"data.{name}: {counted(broken, 'row')} that could not be read left out"
        if one.repeated:
            what = "left out" if dropped else "kept; data.duplicates=drop leaves them out"
            yield f"data.{name}: {counted(one.repeated, 'file')} with the text of another one: {what}"
    trained = {facts.sha256 for _, facts in found["train"].sources}
    for name in list(found)[1:]:  # train is the first
        if same := sum(facts.sha256 in trained for _, facts in found[name].sources):
            yield f"data.{name}: {counted(same, 'file')} with the text of a train file: what is measured there is known"
    train, valid = prepared.train.meta, prepared.valid.meta if prepared.valid else None
    if valid and "valid" not in found:
        share = valid.bytes / max(valid.bytes + train.bytes, 1)
        if not corpus.share / 2 <= share <= 2 * corpus.share:
            yield (
                f"held out: {100 * share:.1f} % of the text, not {100 * corpus.share:g} %: its documents are few or of "
                "very different length; give data.valid, or try another data.holdout or seed"
            )
    unit = "line" if corpus.unit == "line" else "document"
    if train.repeated and (dropped or train.repeated > _MANY * train.documents):
        what = "left out" if dropped else "kept; data.duplicates=drop leaves them out"
        yield f"train text: {counted(train.repeated, unit)} met before in it: {what}"
    if valid and valid.repeated > _MANY * valid.documents:
        yield f"validation text: {valid.repeated:,} of {counted(valid.documents, unit)} also in the train text"


def _check_lines(corpus: Corpus, tokens: Tokens, found: dict[str, Found]) -> None:
    if tokens.cuts != "at lines" and corpus.unit == "document":
        return
    for source, facts in (pair for one in found.values() for pair in one.sources):
        if facts.longest > LONGEST_LINE:
            raise UserError(
                f"{source.name}: line {facts.longest_at} has {facts.longest} bytes; allowed: {LONGEST_LINE}; break it "
                "into lines, or use tokens of words, characters or bytes with data.unit=document"
            )


def _key(corpus: Corpus, tokens: Tokens, found: dict[str, Found], seed: int, learnt: bool) -> str:
    # How the files are read shows in their texts; only what is done with the texts matters beside them.
    settings = {name: getattr(corpus, name) for name in ("unit", "holdout", "share")}
    settings |= {"duplicates": corpus.read.duplicates}
    if corpus.read.blank != "drop":  # not named where it changes nothing: texts prepared before keep their names
        settings |= {"blank": corpus.read.blank}
    about = {
        "format": FORMAT,
        "corpus": settings,
        "tokens": tokens.told(learnt),
        "sources": {
            name: [(facts.sha256, source.has_records) for source, facts in one.sources] for name, one in found.items()
        },
        "seed": seed if corpus.holdout == "seed" else None,
        "vocabulary": digest_of(tokens) if learnt else None,
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:40]


def digest_of(tokens: Tokens) -> str:
    """SHA-256 of a learnt tokeniser as it is saved."""
    with tempfile.TemporaryDirectory() as name:
        tokens.save(Path(name))
        files = [Path(name, file).read_bytes() for file in ("tokenizer.json", "text.json")]
    return hashlib.sha256(b"".join(files)).hexdigest()
