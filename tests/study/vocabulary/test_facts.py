"""The numbers of the report on texts small enough to count by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foresay import parts
from foresay.data.corpus import Corpus
from foresay.data.pairs import Pairs
from foresay.data.prepare import Prepared, prepare
from foresay.study.vocabulary.facts import About, Facts, Symbol, measure
from foresay.text.bytes import Bytes
from foresay.text.characters import Characters
from foresay.text.subwords import Subwords
from foresay.text.tokens import Tokens
from foresay.text.words import Words

TRAIN = "a a a a a a b b b b b c c é"  # 14 tokens, 27 characters, 28 bytes
VALID = "a c é e\nb\n"  # e is unknown; c and é are rare


def facts_of(tokens: Tokens, train: str = TRAIN, valid: str | None = VALID, top: int = 10, **data: str) -> Facts:
    Path("train").write_text(train, "utf-8")
    if valid is not None:
        Path("valid").write_text(valid, "utf-8")
    share = {"valid": "valid"} if valid is not None else {"share": 0.0}
    prepared = prepare(Corpus(train="train", **share, **data), tokens, 1)  # pyright: ignore[reportArgumentType]
    return measure(prepared, About("t", parts.describe(tokens)), top)


def test_words_by_hand():
    facts = facts_of(Words())
    train, valid = facts.texts["train"], facts.texts["valid"]
    assert (train.documents, train.tokens, train.bytes, train.characters) == (1, 14, 28, 27)
    assert (train.bytes_per_token, train.characters_per_token) == (28 / 14, 27 / 14)
    assert (train.unknown, train.rare) == (0, 3 / 14)
    assert (valid.tokens, valid.bytes, valid.unknown, valid.rare) == (5, 11, 1 / 5, 2 / 5)
    assert (facts.symbols, facts.learnt, facts.never, facts.rare, facts.rare_learnt) == (9, 4, 0, 2, 2)
    assert facts.once == 1 / 14 and facts.one_byte is None and facts.alphabet == 0
    assert facts.coverage == {50: 2, 90: 3, 95: 4, 99: 4}  # 6, 11, 13, 14 of 14
    assert facts.frequent == [
        Symbol("a", 6, 6 / 14),
        Symbol("b", 5, 5 / 14),
        Symbol("c", 2, 2 / 14),
        Symbol("é", 1, 1 / 14),
    ]
    assert facts.rarest == facts.frequent[::-1]
    assert facts.curves.f.tolist() == [6, 5, 2, 1] and facts.curves.named == [(1, "a")]
    assert facts.curves.train.tolist() == [6 / 14, 11 / 14, 13 / 14, 1]
    assert facts.curves.valid is not None and facts.curves.valid.tolist() == [1 / 5, 2 / 5, 3 / 5, 4 / 5]


def test_what_is_cut_is_unknown():
    facts = facts_of(Words(min_count=3))
    assert facts.symbols == 7 and facts.rare == 0
    assert facts.texts["train"].unknown == 3 / 14 and facts.texts["valid"].unknown == 3 / 5
    assert facts.coverage == {50: 2, 90: None, 95: None, 99: None}


def test_top_names_so_many():
    facts = facts_of(Words(), top=2)
    assert [s.symbol for s in facts.frequent] == ["a", "b"] and [s.symbol for s in facts.rarest] == ["é", "c"]
    none = facts_of(Words(), top=0)
    assert none.frequent == none.rarest == []


def test_lines_are_documents():
    facts = facts_of(Words(), "a b\nc\na b c\n", "a\n", unit="line")
    train = facts.texts["train"]
    assert (train.documents, train.tokens, train.tokens_per_document) == (3, 6, 2.0)


def test_without_validation():
    facts = facts_of(Words(), valid=None)
    assert set(facts.texts) == {"train"} and facts.curves.valid is None


def test_symbols_of_another_text_are_never_seen():
    """A vocabulary learnt elsewhere: x and y are never seen, b and c less than five times."""
    tokens = Words()
    tokens.learn(["a b c x y"])
    Path("train").write_text("a a a a a b b b b c z")
    prepared = prepare(Corpus(train="train", share=0.0), tokens, 1, learnt=True)
    facts = measure(prepared, About("t", parts.describe(tokens)))
    assert (facts.never, facts.rare) == (2, 4) and facts.texts["train"].unknown == 1 / 11
    assert facts.once == 1 / 11  # c
    assert [s.symbol for s in facts.rarest] == ["c", "b", "a"]  # what is never seen has no rank


def test_single_bytes_of_subwords():
    text = "the cat and the dog and the tree.\n" * 30 + "é"
    tokens = Subwords(size=280)
    facts = facts_of(tokens, text)
    tokens.learn([text])
    lengths = [len(tokens.contents[i]) for i in tokens.encode(text)]
    assert (facts.alphabet, facts.learnt) == (256, len(tokens) - 261) and facts.learnt > 5
    assert facts.one_byte == lengths.count(1) / len(lengths) and 0 < facts.one_byte < 1
    assert (
        facts.rare > 200 and facts.rare_learnt <= facts.learnt
    )  # the bytes a text has not are no fault of the setting


def test_bytes_are_all_alphabet():
    facts = facts_of(Bytes())
    assert (facts.symbols, facts.alphabet, facts.learnt, facts.rare_learnt, facts.one_byte) == (261, 256, 0, 0, 1.0)
    assert facts.never == 256 - 6  # a b c, the blank, and two bytes of é


def test_chinese_symbols_are_counted():
    assert facts_of(Characters(), "中文ab" * 5, "中").chinese == pytest.approx(0.5)
    assert facts_of(Characters(), "ab" * 5, "a").chinese == 0


def test_test_text_is_counted_too():
    for name, text in (("train", TRAIN), ("valid", "a"), ("test", "e e a")):
        Path(name).write_text(text, "utf-8")
    told: list[float] = []
    prepared: Prepared = prepare(Corpus(train="train", valid="valid", test="test"), Words(), 1)
    facts = measure(prepared, About("t", {"kind": "words"}), on_progress=told.append)
    assert facts.texts["test"].unknown == 2 / 3 and list(facts.texts) == ["train", "valid", "test"]
    assert told == pytest.approx([15 / 21, 17 / 21, 1.0])  # with the <stop> of each


def test_numbers_for_programs():
    facts = facts_of(Words())
    found = json.loads(json.dumps(facts.as_dict()))
    assert found["name"] == "t" and found["tokens"]["kind"] == "words" and found["symbols"] == 9
    assert found["texts"]["train"]["bytes_per_token"] == 2.0 and found["coverage"]["90"] == 3
    assert found["frequent"][0] == {"symbol": "a", "count": 6, "share": 6 / 14} and found["zipf"] is None
    assert "curves" not in found


@pytest.mark.parametrize("own", [False, True])
def test_pairs_are_counted_on_both_sides_of_one_vocabulary(own: bool):
    """By hand: sources ab, c and targets x, yx; with a vocabulary of their own sources are not counted."""
    Path("p.tsv").write_text("ab\tx\nc\tyx\n", "utf-8")
    pairs = Pairs("p.tsv", share=0.0, source_tokens=Characters() if own else None)
    found = measure(prepare(pairs, Characters(), 1), About("p", {"kind": "characters"}))
    text = found.texts["train"]
    assert (text.documents, text.tokens, text.characters, text.bytes) == ((2, 3, 3, 3) if own else (2, 6, 6, 6))
    assert found.symbols == 5 + (2 if own else 5) and found.never == 0
    assert found.frequent[0] == Symbol("x", 2, 2 / text.tokens)
