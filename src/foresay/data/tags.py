"""Words and their tags: which files, which columns, and what is held out for validation.

`train`, `valid` and `test` are each a file (tag_files.py), or the name of a set that is known or made here and brings
its own valid and test. The set of tags is that of train, or given: `tags`. Tags that write spans (B-x, I-x, O; also
E-x, S-x) must keep to their scheme; with `rewrite` they are written anew in one, which mends and converts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from foresay.data import builtin
from foresay.data.decoding import check_encoding
from foresay.data.made import made_rows
from foresay.data.rows import Rows
from foresay.data.source import Reading, Source
from foresay.data.spans import OUTSIDE, Scheme, first_broken, is_bilou, is_span, odd_among, rewritten
from foresay.data.tag_files import CONLLU, ENDINGS, Format, Tagged, TagText
from foresay.data.tag_set import Met, TagSet
from foresay.errors import UserError
from foresay.parts import Share, part

_BILOU = " of BILOU; allowed: BIO and BIOES: write E- for L- and S- for U-"
KNOWN = (1, 2)  # columns of the known sets that are no CoNLL-U


@dataclass(frozen=True)
class TagReading:
    """How files become words and tags: their format, the two columns, their encoding, the scheme of spans."""

    format: Literal["auto", "columns", "conllu", "letters", "squad"] = "auto"  # auto: by the name
    columns: list[int] | None = None  # of the word and of its tag, from 1; -1 is the last; needed above two
    encoding: str = "utf-8"
    errors: Literal["strict", "replace"] = "strict"
    scheme: Literal["auto", "none", "bio", "bioes"] = "auto"  # none: tags are no spans, whatever they look like
    rewrite: Literal["bio", "bioes"] | None = None


@part("data", "tags")
class Tags(Rows):
    """Words and their tags, from files of columns or a known set."""

    known = False  # whether `tags` are a trained model's, so that there can be no others

    def __init__(
        self,
        train: str,
        valid: str | None = None,
        test: str | None = None,
        share: Share = 0.1,
        tags: list[str] | None = None,
        read: TagReading = TagReading(),  # noqa: B008 - frozen
    ):
        self.train, self.valid, self.test, self.share, self.tags, self.read = train, valid, test, share, tags, read
        check_encoding(read.encoding)
        if read.columns is not None and (len(read.columns) != 2 or 0 in read.columns):
            raise UserError(
                f"data.columns={read.columns}; allowed: two, the word's and its tag's, from 1, such as [1, 2]; -1 is "
                "the last"
            )
        if read.scheme == "none" and read.rewrite is not None:
            raise UserError(f"data.scheme=none has no spans, and data.rewrite={read.rewrite}; leave one of them out")

    def brought(self, place: str, name: str, seed: int) -> TagText | None:
        """A part of a place that brings several; None where it brings none."""
        if place.startswith(builtin.PREFIX):
            return TagText(Source(f"{place} ({name})"), "columns", made=made_rows("tags", place, seed)[name])
        files = None if Path(place).expanduser().is_file() else builtin.known_tags(place)
        return None if files is None else self.of_file(files[name], KNOWN)

    def learn(self, found: dict[str, Any], met: dict[str, Met]) -> TagSet:
        """The set of tags: the one given, or that of train; every sentence of every part is held to it.

        A part is gone through only where what was `met` in it shows, or may hide, a mistake, to name its line.
        """
        given = set(self.tags or met["train"].tags)
        if not given:
            raise UserError(f"{found['train'].name} has no words; give lines with a word and its tag")
        scheme = TagSet.of(given).scheme if self.read.scheme == "auto" else self.read.scheme
        if self.read.rewrite is not None and scheme == "none":
            self._check_spelling(given, found["train"])
            if given == {OUTSIDE}:
                raise UserError(f"{found['train'].name} has only the tag O; give sentences with spans, such as B-place")
            raise UserError(
                f"data.rewrite={self.read.rewrite}, but the tags of {found['train'].name} write no spans: "
                f"{_few(given)}; set data.rewrite=null train.best=accuracy, or use foresay train pos"
            )
        if scheme != "none" and TagSet.of(given).scheme == "none" and given != {OUTSIDE}:
            self._check_spelling(given, found["train"])
            raise UserError(
                f"data.scheme={scheme}, but there are tags that write no spans: {_few(given)}; leave it out"
            )
        set_read = TagSet.of(given, scheme)
        for name, text in found.items():
            known = all(self._knows(tag, set_read) for tag in met[name].tags)
            if not known or not (self.read.rewrite or met[name].keeps(set_read.scheme)):
                for sentence in text:
                    self._check(text.name, sentence, set_read)
        return set_read if self.read.rewrite is None else TagSet.of(given, self.read.rewrite)

    def _check_spelling(self, given: set[str], text: TagText) -> None:
        """Names the tag that keeps a set from being one of spans, with its line."""
        odd = {tag for tag in given if not is_span(tag)} if is_bilou(given) else odd_among(given)
        for sentence in text:
            for line, tag in zip(sentence.lines, sentence.tags, strict=True):
                if tag in odd:
                    raise UserError(f"{text.name}: line {line} has the tag {tag}{_no_span(given)}")

    def _knows(self, tag: str, tags: TagSet) -> bool:
        return tag in tags.ids or bool(self.read.rewrite and is_span(tag) and f"B-{tag[2:]}" in tags.ids)

    def _check(self, name: str, sentence: Tagged, tags: TagSet) -> None:
        for line, tag in zip(sentence.lines, sentence.tags, strict=True):
            if not self._knows(tag, tags):
                if self.read.rewrite and tag[:2] in ("L-", "U-") and f"B-{tag[2:]}" in tags.ids:
                    raise UserError(f"{name}: line {line} has the tag {tag}{_BILOU}")
                if self.known:
                    raise UserError(
                        f"{name}: line {line} has the tag {tag}, which the run does not know: the file is of another "
                        f"set; the run's tags: {_few(tags.names)}; give a file that has these, or train on this one"
                    )
                where = "data.tags" if self.tags else "the tags of data.train"
                raise UserError(
                    f"{name}: line {line} has the tag {tag}, which is not among {where}: {_few(tags.names)}; mend it, "
                    "or name all in data.tags"
                )
        broken = None if self.read.rewrite else first_broken(sentence.tags, tags.scheme)
        if broken is not None:
            raise UserError(_broken(name, sentence, broken, tags.scheme, self.known))

    def written(self, sentence: Tagged, tags: TagSet) -> Tagged:
        """A sentence in the scheme of the set."""
        if self.read.rewrite is None:
            return sentence
        return sentence._replace(tags=rewritten(sentence.tags, tags.scheme))

    def of_file(self, path: Path, usual: tuple[int, int] | None = None) -> TagText:
        read = Reading(format="text", encoding=self.read.encoding, errors=self.read.errors)
        by_name: list[Format] = [ENDINGS[end] for end in path.suffixes if end in ENDINGS]
        form = self.read.format if self.read.format != "auto" else by_name[0] if by_name else "columns"
        columns = CONLLU if form == "conllu" else usual
        if self.read.columns is not None:
            columns = (self.read.columns[0], self.read.columns[1])
        return TagText(Source(str(path), path, read=read), form, columns)


def _broken(name: str, sentence: Tagged, place: int, scheme: Scheme, known: bool) -> str:
    tag, tags = sentence.tags[place], ["the beginning of a sentence", *sentence.tags, "the end of a sentence"]
    alone = tag[0] in "IE" and tags[place] not in (f"B{tag[1:]}", f"I{tag[1:]}")
    where = f"after {tags[place]}" if alone else f"before {tags[place + 2]}"
    rule = "begins with B- and ends with E-" if scheme == "bioes" else "begins with B-"
    mended = "" if known else f", or let it be mended: data.rewrite={scheme}"
    return f"{name}: line {sentence.lines[place]} has {tag} {where}, and a span {rule} of its type; mend it{mended}"


def _no_span(tags: set[str]) -> str:
    """What is said behind a tag that is none of a span, among tags of which most are."""
    if is_bilou(tags):
        return _BILOU
    return f", which writes no span as others do: {_few(tag for tag in tags if is_span(tag))}; mend it"


def _few(tags: object) -> str:
    names = sorted(tags)  # pyright: ignore[reportArgumentType]
    return ", ".join(names[:30]) + (f", ... ({len(names)})" if len(names) > 30 else "")
