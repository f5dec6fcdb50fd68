"""Sentences of tagged words from a file of columns: one word a line, a blank line after each sentence (CoNLL).

    EU      NNP  B-NP  B-ORG           columns divided by tabs, where the line has one, else by blanks
    rejects VBZ  B-VP  O

    # text = They buy.                 CoNLL-U: comments, and lines of words written together (1-2) and of words that
    1  They  they  PRON  ...           are not there (1.1), are left out

    >1abc                              letters: a line of symbols and below it one of their tags, a letter each; lines
    MKVLA                              that begin with > are names (FASTA) and left out
    CCEEE

Lines of `-DOCSTART-` are left out too. Files may be packed. All lines have as many columns as the first. Every mistake
is told with its line: columns have no comments, so `# doc1` at the head of a sentence is one, known by a tag that no
other word has. SQuAD's JSON: squad.py. Sentences that are made in memory stand for a line each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from sys import intern
from typing import Literal, NamedTuple

from foresay.data.advice import OR_CONLLU
from foresay.data.pair_files import text_lines
from foresay.data.records import RETURN, ZERO
from foresay.data.source import Source
from foresay.data.squad import squad_rows
from foresay.errors import UserError, counted

Format = Literal["columns", "conllu", "letters", "squad"]
ENDINGS: dict[str, Format] = {
    ".conll": "columns",
    ".conllu": "conllu",
    ".fasta": "letters",
    ".3line": "letters",
    ".json": "squad",
}
CONLLU = (2, 4)  # the columns of the word and its universal part of speech
_LEFT_OUT = re.compile(r"\d+[-.]\d+")
_START = "-DOCSTART-"
_AS_MANY = "every line of a word needs as many: mend it"
_COMMENT = f"looks like a comment: delete such lines{OR_CONLLU}"


class Tagged(NamedTuple):
    """A sentence: the lines its words stand on, the words, their tags.

    It takes little memory, as many may be kept: a word that a file has often is one object, and lines are a range.
    """

    lines: Sequence[int]
    words: list[str]
    tags: list[str]


@dataclass(frozen=True)
class TagText:
    """Tagged sentences of one file, that can be gone through any number of times."""

    source: Source
    format: Format
    columns: tuple[int, int] | None = None  # from 1, or from the end: -1; None: of two
    made: Sequence[tuple[list[str], list[str]]] | None = None  # words and tags, in the place of a file

    @property
    def name(self) -> str:
        return self.source.name

    def __iter__(self) -> Iterator[Tagged]:
        if self.made is not None:
            return (Tagged([line] * len(words), words, tags) for line, (words, tags) in enumerate(self.made, 1))
        if self.format == "squad":
            return (Tagged([n] * len(words), words, tags) for n, words, tags in squad_rows(self.source))
        return self._letters() if self.format == "letters" else self._sentences()

    def _letters(self) -> Iterator[Tagged]:
        """Two lines each, below a name where the file has names."""
        above, named, due = None, None, False  # symbols with their line; whether there are names, and one must follow
        for line, text in enumerate(map(str.strip, text_lines(self.source)), 1):
            if not text:
                continue
            named = text.startswith(">") if named is None else named
            if above is not None:
                yield self._both(*above, line, text)
                above, due = None, named
            elif text.startswith(">"):
                due = False
            elif due:
                raise UserError(
                    f"{self.name}: line {line} is a third below its name; give symbols and tags a line each"
                )
            else:
                above = line, text
        if above is not None:
            raise UserError(f"{self.name}: line {above[0]} has symbols, and no line of tags follows; add it")

    def _both(self, first: int, symbols: str, line: int, tags: str) -> Tagged:
        if tags.startswith(">") or len(tags) != len(symbols):
            what = "a name" if tags.startswith(">") else f"{len(tags)} letters"
            raise UserError(
                f"{self.name}: line {line} has {what}, and line {first} has {len(symbols)} symbols; give each a tag of "
                "one letter, all on the next line"
            )
        if any(map(str.isspace, symbols + tags)):
            raise UserError(
                f"{self.name}: line {first} or {line} has a blank within; every letter is one symbol or tag"
            )
        return Tagged([line] * len(tags), list(symbols), list(tags))

    def _sentences(self) -> Iterator[Tagged]:
        """One loop, no call of ours for each line: reading is most of what the preparing of tags takes."""
        conllu, width, first, word_at, tag_at = self.format == "conllu", 0, (0, ""), 0, 1
        lines, words, tags = list[int](), list[str](), list[str]()
        heads, headed, others = 0, dict[str, int](), set[str]()  # lines `# ...` at the head; their tags; all other tags
        for line, text in enumerate(chain(text_lines(self.source), [""]), 1):
            word = tag = ""  # as where a sentence ends
            if text and not text.isspace():
                if (zero := "\0" in text) or "\r" in text:
                    raise UserError(f"{self.name}: line {line} {ZERO if zero else RETURN}")
                fields = text.split("\t") if "\t" in text else text.split()
                if conllu and (text[0] == "#" or _LEFT_OUT.fullmatch(fields[0])):
                    continue
                if len(fields) != width:
                    if width:
                        raise UserError(self._other_width((line, text), len(fields), first, width))
                    width, first = len(fields), (line, text)
                    word_at, tag_at = self._places(width, line, text)
                word, tag = fields[word_at].strip(), fields[tag_at].strip()
                if not word or not tag:
                    raise UserError(f"{self.name}: line {line} has an empty {'tag' if word else 'word'}; mend it")
            if word and word != _START:
                if text[0] == "#":
                    heads += text[1] == " " and heads == len(words)
                lines.append(line)
                words.append(intern(word))
                tags.append(intern(tag))
            elif words:
                for place in range(heads):
                    headed.setdefault(tags[place], lines[place])
                others.update(tags[heads:] if heads else tags)
                yield Tagged(_short(lines), words, tags)
                lines, words, tags, heads = [], [], [], 0
        for tag, line in headed.items():
            if tag not in others:
                raise UserError(
                    f"{self.name}: line {line} begins with # and has the tag {tag}, which no other word has; it "
                    f"{_COMMENT}; where # is a word, put a tab behind it"
                )

    def _other_width(self, here: tuple[int, str], width: int, first: tuple[int, str], due: int) -> str:
        """What is said of a line with more or fewer columns than the first."""
        comment = next((f"line {line} {_COMMENT}" for line, text in (here, first) if text[0] == "#"), None)
        return f"{self.name}: line {here[0]} has {_count(width)}, line {first[0]} has {due}; {comment or _AS_MANY}"

    def _places(self, width: int, line: int, text: str) -> tuple[int, int]:
        """Where the word and the tag stand among the fields, by the first line."""
        if text[0] == "#" and (width != 2 if self.columns is None else max(map(abs, self.columns)) > width):
            raise UserError(f"{self.name} has {_count(width)} at line {line}, which {_COMMENT}")
        if self.columns is None and width != 2:
            raise UserError(
                f"{self.name} has {_count(width)} at line {line}; say which are the word's and the tag's: "
                "data.columns=[1, 2]; -1 is the last"
            )
        one, other = self.columns or (1, 2)
        places = {place % (width + 1) for place in (one, other) if 1 <= abs(place) <= width}
        if len(places) != 2:
            raise UserError(
                f"data.columns={[one, other]}, but {self.name} has {_count(width)} at line {line}; allowed: two "
                f"different ones of 1 to {width}, or -1 for the last"
            )
        return one - (one > 0), other - (other > 0)


def _short(lines: list[int]) -> Sequence[int]:
    """The same lines, without a number for each where none between them is left out."""
    return range(lines[0], lines[-1] + 1) if lines[-1] - lines[0] == len(lines) - 1 else lines


def _count(columns: int) -> str:
    return counted(columns, "column")
