"""Surprise: a word's share of the sentence's -log P, whatever the tokeniser cuts."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from foresay import start
from foresay.run import Run
from foresay.study.surprise import surprise
from foresay.train.progress import Watch

SENTENCES = ["the cat sees the red house.", "  a small dog,   the 11-year-old cat  ", "the", "it\nsees\tthe river"]


@pytest.fixture(scope="module", params=["bytes", "characters", "words", "blanks", "subwords"])
def run(request, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    size = {"size": 300} if request.param == "subwords" else {}
    recipe = {"task": "ngram", "data": {"train": str(corpus)}, "tokens": {"kind": request.param, **size}}
    return start.train(recipe, out=tmp_path_factory.mktemp("run") / "run", device="cpu", watch=Watch())


@pytest.mark.parametrize("sentence", SENTENCES)
def test_words_and_their_nats_add_up(run, sentence):
    found = surprise(run, sentence)
    assert [word.text for word in found] == sentence.split()
    assert math.fsum(word.nats for word in found) == pytest.approx(run.score(sentence)[0].nats, rel=1e-12)
    assert all(word.nats > 0 for word in found)


@pytest.mark.parametrize("place", [0, 2, 4])
def test_an_odd_word_is_the_most_surprising(run, place):
    words = ["the", "cat", "sees", "the", "river"]
    words[place] = "zyxqvw"
    found = surprise(run, " ".join(words))
    assert max(found, key=lambda word: word.nats).text == "zyxqvw"


def test_a_word_has_the_nats_of_its_tokens(run):
    """The first word alone, and the second as the rest of the two."""
    one, two = surprise(run, "the river")
    assert one.nats == pytest.approx(run.score("the")[0].nats, rel=1e-12)
    assert two.nats == pytest.approx(run.score("the river")[0].nats - one.nats, rel=1e-12)


@pytest.mark.parametrize("sentence", ["", "  \n "])
def test_no_words(run, sentence):
    assert surprise(run, sentence) == []


def test_the_end_of_a_line_belongs_to_no_word(corpus: Path, tmp_path: Path):
    recipe = {"task": "ngram", "data": {"train": str(corpus), "unit": "line"}, "tokens": "words"}
    run = start.train(recipe, out=tmp_path / "run", device="cpu", watch=Watch())
    scored = run.score("the cat.")[0]
    assert scored.tokens[-1] == "<stop>"
    assert math.fsum(w.nats for w in surprise(run, "the cat.")) == pytest.approx(-math.fsum(scored.log_probs[:-1]))
