"""Words that the vocabulary does not know: kept beside shards and in batches, as they are spelt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from foresay import parts
from foresay.data.batch import Batch
from foresay.data.prepare import Prepared, prepare
from foresay.data.strange import PLACES, Strange, StrangeWriter, spelt
from foresay.data.tag_shards import TagShards
from foresay.errors import UserError
from foresay.text.tokens import UNK
from foresay.text.word_bytes import BYTES

SENTENCES = [
    ["the", "the", "Quokka", "saw"],
    ["saw", "the", "Wombat", "the", "Quokka"],
    ["saw"],
    ["a\u00a0b", "saw", "<stop>", "é" * 80],
]


def ready(tokens: dict | None = None) -> Prepared:
    text = "\n\n".join("\n".join(f"{word}\tX" for word in words) for words in SENTENCES)
    Path("a.conll").write_text(text + "\n", encoding="utf-8")
    corpus = parts.make("data", {"kind": "tags", "train": "a.conll", "share": 0.0})
    made = {"kind": "blanks", "size": 7, **(tokens or {})}  # the marks, "the" and "saw"
    return prepare(corpus, parts.make("tokens", made), 1)


def words_of(batch: Batch, symbols: list[str]) -> list[list[str]]:
    """What a batch says by its letters, read back."""
    rows = batch.spelt if batch.spelt is not None else batch.ids
    mask = torch.ones_like(rows, dtype=torch.bool) if batch.mask is None else batch.mask
    spellings = [] if batch.characters is None else batch.characters.tolist()
    read = [bytes(n - BYTES for n in one if n >= BYTES).decode() for one in spellings]
    return [
        [symbols[n] if n < len(symbols) else read[n - len(symbols)] for n in row[kept].tolist()]
        for row, kept in zip(rows, mask, strict=True)
    ]


def test_batches_spell_every_word():
    prepared = ready()
    symbols = prepared.tokens.pieces(range(len(prepared.tokens)))
    for batches in ({"tokens": 4}, {"tokens": 1000}):
        found = []
        for batch in parts.make("batches", {"kind": "tags", **batches}).evaluation(prepared.train):
            found += words_of(batch, symbols)
            assert batch.characters is None or len(batch.characters) == len({tuple(one) for one in batch.characters})
            assert (batch.ids < len(symbols)).all() and (batch.spelt is None or (batch.spelt != UNK).all())
        assert found == [*SENTENCES[:3], [*SENTENCES[3][:3], "é" * 50]]  # 100 bytes of the last


def test_training_batches_spell_too():
    prepared = ready()
    symbols = prepared.tokens.pieces(range(len(prepared.tokens)))
    order = parts.make("batches", {"kind": "tags", "tokens": 8}).open(prepared.train, 1)
    found = [words for step in range(order.per_epoch) for words in words_of(order.batch(step), symbols)]
    assert sorted(found) == sorted([*SENTENCES[:3], [*SENTENCES[3][:3], "é" * 50]])


def test_new_words_are_spelt_as_those_of_a_file_are():
    prepared = ready()
    batch = next(parts.make("batches", {"kind": "tags", "tokens": 1000}).evaluation(prepared.train))
    new = spelt(Batch(ids=batch.ids, mask=batch.mask), SENTENCES, prepared.tokens)
    symbols = prepared.tokens.pieces(range(len(prepared.tokens)))
    assert words_of(new, symbols) == words_of(batch, symbols)
    known = Batch(ids=torch.full((1, 2), 5))
    assert spelt(known, [["the", "the"]], prepared.tokens) is known


def test_a_literal_unk_is_the_mark():
    SENTENCES.append(["<unk>", "saw", "emu"])
    prepared = ready()
    SENTENCES.pop()
    symbols = prepared.tokens.pieces(range(len(prepared.tokens)))
    *_, batch = parts.make("batches", {"kind": "tags", "tokens": 3}).evaluation(prepared.train)
    assert words_of(batch, symbols) == [["<unk>", "saw", "emu"]] and batch.spelt[0, 0] == UNK
    new = spelt(Batch(ids=batch.ids), [["<unk>", "saw", "emu"]], prepared.tokens)
    assert torch.equal(new.spelt, batch.spelt)


def test_places_go_on_from_one_call_to_the_next():
    """And words are asked for only where one of them is unknown; a sentence may have none."""
    asked: list[int] = []
    rows = [["a", "x"], [], ["a"], ["<unk>", "y", "x"]]

    def words_of(row: int) -> list[str]:
        asked.append(row)
        return rows[row]

    writer = StrangeWriter(parts.make("tokens", "blanks"))
    ids = [np.array([5 if word == "a" else UNK for word in words], np.uint32) for words in rows]
    writer.add(ids, words_of)
    writer.add(ids, words_of)
    writer.save(Path())
    found = Strange(Path(), 6)
    assert asked == [0, 3] * 2 and found.words == ["x", "y"]
    assert (found.places.tolist(), found.which.tolist()) == ([1, 7, 8, 11, 17, 18], [0, 1, 0] * 2)


def test_spelt_as_the_tokens_have_words():
    """In lower case where the vocabulary is: an upper-case letter would say that a word is unknown."""
    prepared = ready({"normalise": {"lowercase": True}, "stem": {"kind": "snowball"}})
    assert isinstance(prepared.train, TagShards)
    assert prepared.train.strange.words[:2] == ["quokka", "wombat"]


def test_a_damaged_file_is_told(tmp_path):
    prepared = ready()
    path = prepared.folder / "train" / PLACES
    kept = path.read_bytes()
    for damaged in (b"123", np.array([2, 99], "<i8").tobytes()):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=r"strange\.bin is missing or damaged; delete .* and prepare again"):
            TagShards(prepared.folder / "train")
    path.write_bytes(kept)
    assert TagShards(prepared.folder / "train").strange.words[0] == "Quokka"
