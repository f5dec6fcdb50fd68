"""Preparing rows of any kind: the folder's name, what is learnt from, what is told, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from foresay import parts
from foresay.data import row_prepare
from foresay.data.row_prepare import ROW, Preparing
from foresay.data.row_shards import RowWriter
from foresay.data.rows import Rows
from foresay.data.shards import Shards
from foresay.errors import UserError


class Lines(list):
    name = "lines"


class Texts(Rows):
    train, share = "here", 0.0

    def __init__(self, *texts: str):
        self.given = texts

    def find(self, seed: int) -> dict[str, Lines]:
        return {"train": Lines(enumerate(self.given, 1))}


class PreparingTexts(Preparing):
    noun, needs = "texts", "a text"

    def told(self, part, row):
        return repr(row).encode()

    def texts(self, row):
        return (row[1],)

    def writer(self, folder):
        return RowWriter(folder, len(self.tokens))

    def add(self, folder, writer, name, block):
        lines, texts = map(list, zip(*block, strict=True))
        writer.add(lines, self.ids_of(self.tokens, texts, lines, name, "text"), texts)


def test_from_rows_to_shards() -> None:
    told: list[tuple[str, float]] = []
    tokens = parts.make("tokens", "characters")
    make = PreparingTexts(Texts("ab", "b"), tokens, 1, lambda *one: told.append(one))
    prepared = make.done(Path("cache"))
    a, b = (prepared.tokens.encode(letter).item() for letter in "ab")
    assert type(prepared.train) is Shards and prepared.train.slice(0, 9).tolist() == [a, b, 3, b, 3]
    assert np.fromfile(prepared.folder / "train" / "lines.bin", "<i8").tolist() == [1, 2]
    assert ("learn", pytest.approx(2 / 3)) in told and told[-1] == ("encode train", 1.0) and len(tokens) == 5
    assert prepared.folder == PreparingTexts(Texts("ab", "b"), tokens, 2).done(Path("cache")).folder  # none held out
    assert make.key() != PreparingTexts(Texts("ab", "a"), tokens, 1).key()
    assert make.key() != PreparingTexts(Texts("ab", "b"), prepared.tokens, 1, learnt=True).key()


class Counted(Lines):
    read = 0

    def __iter__(self):
        Counted.read += 1
        return super().__iter__()


class TwoParts(Texts):
    def find(self, seed: int) -> dict[str, Counted]:
        return {name: Counted(enumerate(self.given, 1)) for name in ("train", "valid")}


@pytest.mark.parametrize(
    ("room", "read"),
    [(10**6, 2), (2 * (4 + 2 * ROW), 2), (4 + 2 * ROW, 3), (3 + 2 * ROW, 5), (0, 5)],
    ids=["all", "all, exactly", "train alone", "one character short", "none"],
)
def test_rows_are_read_once_where_there_is_room(room: int, read: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else train is read to check, to learn and to write it, valid to check and to write it."""
    tokens = parts.make("tokens", "characters")
    expected = PreparingTexts(TwoParts("abc", "b"), tokens, 1).done(Path("cache"))
    monkeypatch.setattr(row_prepare, "ROOM", room)
    monkeypatch.setattr(Counted, "read", 0)
    made = PreparingTexts(TwoParts("abc", "b"), tokens, 1).done(Path("other"))
    assert Counted.read == read and made.folder.name == expected.folder.name
    for file in ("train/00000.bin", "valid/00000.bin", "valid/lines.bin", "tokenizer.json"):
        assert (made.folder / file).read_bytes() == (expected.folder / file).read_bytes()


def test_refusals() -> None:
    tokens = parts.make("tokens", {"kind": "words", "normalise": {"emoji": "strip"}})
    with pytest.raises(UserError, match=r"^lines is empty; give lines with a text$"):
        PreparingTexts(Texts(), tokens, 1)
    with pytest.raises(UserError, match=r"^lines: line 2 has a text without tokens"):
        PreparingTexts(Texts("a", "\U0001f600"), tokens, 1).done(Path("cache"))
    for count in (2, 3, 9):  # at least one is held out and one is kept
        corpus = Texts(*"abcdefghi"[:count])
        corpus.share = 0.01
        few = PreparingTexts(corpus, tokens, 1).done(Path("cache"))
        assert few.valid is not None and few.train.documents + few.valid.documents == count
    corpus = Texts("a")
    corpus.share = 0.5
    with pytest.raises(UserError, match=r"^data.train='here' gives no valid texts; give more texts, data.valid, or"):
        PreparingTexts(corpus, tokens, 1).done(Path("cache"))
