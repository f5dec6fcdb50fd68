"""Analogy questions: a file by hand, intervals by the formula, the same counts as gensim's."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.vectors.bands import bands
from foresay.vectors.questions import Questions, Share, evaluate, is_questions, read
from foresay.vectors.word_vectors import WordVectors

DATA = Path(os.environ.get("FORESAY_DATA", "none")) / "word-eval" / "questions-words.txt"
TEXT = """: family
man king woman queen
man king woman apple
Man King woman queen

: gram1-plural
cat cats dog dogs
cat cats dog zebras
"""
WORDS = ["man", "king", "woman", "queen", "apple", "cat", "cats", "dog", "dogs"]
MATRIX = [[0, 1, 0, 0], [1, 1, 0, 0], [0, -1, 0, 0], [1, -1, 0, 0], [0, 0, 0, 1]]
MATRIX += [[0, 0, 1, 0], [0.1, 0, 1, 1], [0, 0.1, 1, 0.1], [0, 0.1, 1, 1]]


@pytest.fixture
def vectors() -> WordVectors:
    return WordVectors(WORDS, MATRIX)


@pytest.fixture
def path() -> Path:
    Path("q.txt").write_text(TEXT)
    return Path("q.txt")


def test_sections_kinds_and_coverage(vectors: WordVectors, path: Path) -> None:
    found = evaluate(vectors, read(path))
    assert found.sections == {"family": Share(3, 3, 2), "gram1-plural": Share(2, 1, 1)}
    assert found.kinds == {"semantic": Share(3, 3, 2), "syntactic": Share(2, 1, 1)}
    assert found.total == Share(5, 4, 3)
    assert found.bands == {"the first 1,000 words": Share(4, 4, 3)}
    assert evaluate(vectors, read(path), "multiply").total.covered == 4
    about = found.as_dict()
    assert about["total"]["accuracy"] == 0.75 and about["total"]["coverage"] == 0.8 and about["method"] == "add"


def test_capitals_matter_where_the_vectors_have_some(path: Path) -> None:
    vectors = WordVectors([*WORDS, "Man"], [*MATRIX, [0, 1, 0, 0]])
    assert evaluate(vectors, read(path)).sections["family"] == Share(3, 2, 1)


def test_among_the_most_frequent(vectors: WordVectors, path: Path) -> None:
    """`apple` is the fifth word: with four, its question is uncovered and the right answers stay."""
    found = evaluate(vectors, read(path), among=4)
    assert found.sections == {"family": Share(3, 2, 2), "gram1-plural": Share(2, 0, 0)}
    with pytest.raises(UserError, match="among=0; allowed"):
        evaluate(vectors, read(path), among=0)


def test_bands_of_the_rarest_word() -> None:
    rows = np.array([[0, 999], [5, 1000], [9_999, 3], [10_000, 0], [29_999, 2], [1, 30_000]])
    assert bands(rows).tolist() == [0, 1, 1, 2, 2, 3]


def test_wilsons_interval() -> None:
    """By the formula: 8 of 10 gives 0.490 to 0.943 (Newcombe 1998, method 3)."""
    low, high = Share(12, 10, 8).interval or (0, 0)
    assert (low, high) == (pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))
    assert Share(9, 9, 0).interval == (0.0, pytest.approx(0.2991, abs=1e-4))
    assert (Share(9, 9, 9).interval or (0, 0))[1] == 1.0
    assert Share(5, 0, 0).interval is None and Share(5, 0, 0).accuracy is None and Share(0, 0, 0).coverage == 0


def test_nothing_covered(path: Path) -> None:
    found = evaluate(WordVectors(["x"], [[1]]), read(path))
    assert found.total == Share(5, 0, 0) and found.bands == {}
    assert found.as_dict()["total"]["interval"] is None


def test_files_that_are_none() -> None:
    Path("q.txt").write_text(": a\none two three\n")
    with pytest.raises(UserError, match=r"q.txt line 2: 3 words; a question has four, a section begins with :"):
        read("q.txt")
    Path("q.txt").write_text(": a\n\n")
    with pytest.raises(UserError, match=r"q.txt holds no questions"):
        read("q.txt")
    Path("q.txt").write_bytes(b": a\n\xff b c d\n")
    with pytest.raises(UserError, match=r"q.txt is no UTF-8 text: .* at byte 4"):
        read("q.txt")
    with pytest.raises(UserError, match=r"none.txt is missing"):
        read("none.txt")
    with pytest.raises(UserError, match="cannot be read"):
        read(".")


def test_questions_without_a_section() -> None:
    Path("msr.txt").write_text("good better rough rougher\n")
    assert read("msr.txt").sections == ["msr"] and is_questions("msr.txt")
    Path("ws.tsv").write_text("# comment\ntiger\tcat\t7.35\n")
    assert not is_questions("ws.tsv")


def related_vectors(questions: Questions) -> WordVectors:
    """Vectors that answer many of the questions: each section has a direction from its first words to its second."""
    draw, width = np.random.default_rng(4), 30
    found: dict[str, np.ndarray] = {}
    ways = {name: draw.normal(size=width) for name in dict.fromkeys(questions.sections)}
    for words, section in zip(questions.words, questions.sections, strict=True):
        a, b, c, d = (word.lower() for word in words)
        for one, other in ((a, b), (c, d)):
            begin = found.setdefault(one, draw.normal(size=width))
            found[other] = 0.8 * begin + ways[section] + 0.4 * draw.normal(size=width)
    return WordVectors(list(found), np.array(list(found.values())))


def like_gensim(vectors: WordVectors, path: Path, among: int) -> None:
    pytest.importorskip("gensim", reason="gensim is not installed")
    score, sections = vectors.to_gensim().evaluate_word_analogies(
        str(path), restrict_vocab=among, case_insensitive=True
    )
    found = evaluate(vectors, read(path), among=among)
    for section in sections:
        share = found.sections.get(section["section"], found.total)
        assert (share.covered, share.right) == (
            len(section["correct"]) + len(section["incorrect"]),
            len(section["correct"]),
        )
    assert found.total.accuracy == score


@pytest.mark.parametrize("among", [4, 7, 9])
def test_gensim_counts_the_same(vectors: WordVectors, path: Path, among: int) -> None:
    like_gensim(vectors, path, among)


@pytest.mark.data
def test_gensim_counts_the_same_on_the_real_file() -> None:
    if not DATA.is_file():
        pytest.skip("word-eval/questions-words.txt is not under FORESAY_DATA")
    asked = read(DATA)
    assert len(asked.words) == 19_544 and len(set(asked.sections)) == 14
    assert sum(section.startswith("gram") for section in asked.sections) == 10_675
    vectors = related_vectors(asked)
    path, few = Path("some.txt"), range(0, len(asked.words), 40)
    for name in dict.fromkeys(asked.sections):
        lines = [" ".join(asked.words[n]) for n in few if asked.sections[n] == name]
        with path.open("a") as file:
            file.write("\n".join([f": {name}", *lines, ""]))
    among = len(vectors) - 50
    share = evaluate(vectors, read(path), among=among).total
    assert 0.2 < (share.accuracy or 0) < 0.95 and share.covered < share.asked == len(few)
    like_gensim(vectors, path, among)
