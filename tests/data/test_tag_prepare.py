"""Preparing tagged words: one token a word, and what changes the folder."""

from __future__ import annotations

import pytest

from foresay import parts
from foresay.data.tag_prepare import word_ids
from foresay.errors import UserError
from foresay.text.tokens import UNK
from tests.data.tagged import TEXT, read_back, ready


def test_tokens_must_keep_words_whole():
    with pytest.raises(UserError, match=r"a.conll: line 3: the tokens cut the word 'New-York' into pieces.*tokens=bla"):
        ready("Anna O\n\nNew-York O\n", tokens="words")
    made = ready("我 O\n们 O\n", tokens="characters")
    assert read_back(made) == [[("我", "O"), ("们", "O")]]


def test_words_that_no_text_gives_are_unknown():
    tokens = parts.make("tokens", "blanks")
    tokens.learn(["a b"])
    (found,) = word_ids(tokens, [["a", "<stop>", "x<pad>", "b c", "zzz", "b"]])
    a, b = tokens.encode("a b").tolist()
    assert found is not None and found.tolist() == [a, UNK, UNK, UNK, UNK, b]


def test_sentences_with_a_word_that_is_cut_have_no_ids():
    tokens = parts.make("tokens", "words")
    tokens.learn(["a b"])
    found = word_ids(tokens, [["a"], ["a", "a-b"], [], ["<stop>", "", "b"]])
    a, b = tokens.encode("a b").tolist()
    assert [None if one is None else one.tolist() for one in found] == [[a], None, [], [UNK, UNK, b]]


def test_what_changes_the_folder():
    first = ready(TEXT).folder
    assert ready(TEXT.replace("\t", " "), name="b.conll").folder == first  # the words count, not how they are written
    others = [
        ready(TEXT.replace("B-person", "B-place")).folder,
        ready(TEXT, read={"rewrite": "bio"}).folder,
        ready(TEXT, tags=["O", "B-person", "B-place", "B-thing"]).folder,
        ready(TEXT, tokens={"kind": "blanks", "normalise": {"lowercase": True}}).folder,
        ready("\n" + TEXT).folder,  # lines are told of, so they are kept
    ]
    assert len({first, *others}) == 6


def test_what_is_written_is_in_the_set_s_scheme():
    prepared = ready("a B-x\nb I-x\n", read={"rewrite": "bioes"})
    assert prepared.tags is not None and prepared.train.meta.vocabulary == len(prepared.tokens) == 7
    assert read_back(prepared) == [[("a", "B-x"), ("b", "E-x")]]
    assert (prepared.train.characters, prepared.train.bytes) == (3 + 1, 3 + 1)  # "a b" and its end
