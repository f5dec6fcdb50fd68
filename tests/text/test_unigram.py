"""Unigram subwords, by value."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.errors import UserError
from foresay.text import unigram
from foresay.text.subwords import Subwords
from foresay.text.unigram import Unigram

VERBS = "walk talk read eat sing play help work cook call ask open".split()  # noqa: SIM905
ENGLISH = "".join(f" {verb} {verb}ing {verb}\n" for verb in VERBS if verb != "eat") * 20 + " eat eat eat\n" * 20


@pytest.fixture(scope="module")
def learnt():
    tokens = Unigram(size=280)
    tokens.learn([ENGLISH])
    return tokens


def vocabulary(tokens):
    return json.loads(tokens.library.to_str())["model"]["vocab"]


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_round_trip_of_all_text(learnt, text):
    assert learnt.decode(learnt.encode(text)) == text


def test_eating_is_eat_and_ing(learnt):
    assert learnt.pieces(learnt.encode(" eating")) == [" eat", "ing"]


def test_the_likeliest_way_is_taken(learnt):
    """Against writing all ways out."""
    score = {piece.replace("Ġ", " "): value for piece, value in vocabulary(learnt)[5:]}

    def best(word: str) -> tuple[float, list[str]]:
        ends = [(0.0, [])]
        for stop in range(1, len(word) + 1):
            ends.append(
                max(
                    (ends[i][0] + score[word[i:stop]], [*ends[i][1], word[i:stop]])
                    for i in range(stop)
                    if word[i:stop] in score
                )
            )
        return ends[-1]

    for word in (" walking", " eat", " king", "talkread", " reading", "openings"):
        assert learnt.pieces(learnt.encode(word)) == best(word)[1]


def test_marks_then_bytes_then_pieces_by_falling_score(learnt):
    entries = vocabulary(learnt)
    assert [piece for piece, _ in entries[:5]] == ["<pad>", "<unk>", "<start>", "<stop>", "<mask>"]
    assert learnt.contents[5:261] == [bytes([byte]) for byte in range(256)]
    scores = [score for _, score in entries[261:]]
    assert scores == sorted(scores, reverse=True) and 270 < len(learnt) <= 280
    mass = sum(math.exp(score) for _, score in entries[5:])
    assert 0.5 < mass <= 1.0  # digamma leaves a little out


def test_two_words_by_hand():
    """ab 6 times and nothing else: one piece; its score is digamma(6) less digamma of all, with half a count a byte."""
    tokens = Unigram(size=262)
    tokens.learn(["ab\n" * 6])
    assert tokens.pieces(range(261, len(tokens))) == ["ab"]
    found = dict(vocabulary(tokens))
    assert found["ab"] < 0 and found["ab"] > found["a"] + found["b"]
    assert tokens.pieces(tokens.encode("ab\nba")) == ["ab", "\n", "b", "a"]


@pytest.mark.parametrize("x", [0.5, 1.0, 3.7, 6.0, 250.0])
def test_digamma(x):
    """psi(1) = -gamma, psi(1/2) = -gamma - 2 log 2, psi(x + 1) = psi(x) + 1/x, and the slope of log gamma."""
    psi = lambda value: float(unigram._digamma(np.array([value]))[0])  # noqa: E731
    gamma = 0.5772156649015329
    assert psi(1.0) == pytest.approx(-gamma, abs=1e-9) and psi(0.5) == pytest.approx(-gamma - 2 * math.log(2), abs=1e-9)
    assert psi(x + 1) == pytest.approx(psi(x) + 1 / x, abs=1e-9)
    assert psi(x) == pytest.approx((math.lgamma(x + 1e-5) - math.lgamma(x - 1e-5)) / 2e-5, abs=1e-6)


def test_fewer_tokens_than_bytes_and_about_as_few_as_bpe():
    text = "the walker talks while the talker walks, and the reader reads what the writer writes\n" * 30
    one, other = Unigram(size=300), Subwords(size=300)
    one.learn([text])
    other.learn([text])
    assert len(one.encode(text)) < 1.2 * len(other.encode(text)) < len(text) / 2


def test_characters_of_other_scripts_are_not_cut_across():
    tokens = Unigram(size=300)
    tokens.learn(["中文和英文。中国人说中文。\n" * 20])
    for piece in tokens.contents[261:]:
        text = piece.decode("utf-8", "replace")
        assert "\ufffd" not in text or len(piece) < 4, piece


def test_long_words_and_an_empty_text():
    tokens = Unigram(size=300)
    tokens.learn(["x" * 5000 + " " + "pneumonoultramicroscopicsilicovolcanoconiosis " * 3])
    assert tokens.decode(tokens.encode("x" * 999)) == "x" * 999
    assert len(tokens.encode(" pneumonoultramicroscopicsilicovolcanoconiosis")) < 6
    empty = Unigram()
    empty.learn([])
    assert len(empty) == 261 and empty.decode(empty.encode("中 a")) == "中 a"


def test_too_small_a_size_says_what_is_allowed():
    with pytest.raises(UserError, match=r"tokens unigram: size=260; allowed: 261 or more"):
        Unigram(size=260)


def test_only_the_most_frequent_words_are_learnt_from(monkeypatch):
    monkeypatch.setattr(unigram, "_BYTES", 12)
    tokens = Unigram(size=300)
    tokens.learn(["often often often rarely rarely seldom"])
    pieces = "".join(tokens.pieces(range(261, len(tokens))))
    assert "ften" in pieces and "eldom" not in pieces
