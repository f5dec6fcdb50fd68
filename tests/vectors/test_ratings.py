"""Rated pairs: every way they are written, correlations by hand and against scipy, bootstrap intervals."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.errors import UserError
from foresay.vectors.ratings import Ratings, evaluate, pearson, ranks_of, read, spearman
from foresay.vectors.spelling import Spelling
from foresay.vectors.word_vectors import WordVectors

DATA = Path(os.environ.get("FORESAY_DATA", "none")) / "word-eval"
FORMS = {
    "tabs": "# a comment\n# Word 1\tWord 2\tHuman (mean)\ntiger\tcat\t7.35\nLove\tsex\t6.77\n",
    "blanks": "tiger cat 7.35\nLove sex 6.77\n",
    "a heading": "word1\tword2\tscore\ntiger\tcat\t7.35\nLove\tsex\t6.77\r\n",
    "a table": ",word1,word2,similarity\n0,tiger,cat,7.35\n1,Love,sex,6.77\n",
    "other columns": ",similarity,word1,word2,relation\n0,7.35,tiger,cat,none\n1,6.77,Love,sex,none\n",
    "an empty row": ",word1,word2,similarity\n0,tiger,cat,7.35\n1,Love,sex,6.77\n2,,,\n",
    "MEN's": ",word1,word2,similarity\n0,tiger-n,cat-n,7.35\n1,Love-v,sex-j,6.77\n",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_forms(text: str) -> None:
    Path("pairs").write_text(text, newline="")
    assert read("pairs") == Ratings("pairs", [("tiger", "cat"), ("Love", "sex")], [7.35, 6.77])


def test_a_word_may_end_like_a_tag() -> None:
    Path("pairs").write_text("vitamin-n cat 1\nx-v y-j 2\n")
    assert read("pairs").pairs == [("vitamin-n", "cat"), ("x-v", "y-j")]


BROKEN = {
    "nothing": ("", "pairs holds no pairs"),
    "comments": ("# a\n", "pairs holds no pairs"),
    "two words": ("tiger cat 7\ntiger cat\n", "line 2: no two words and a finite rating; write such as: tiger cat"),
    "no number": ("tiger cat 7\ntiger cat x\n", "line 2: no two words and a finite rating"),
    "NaN": ("tiger cat 7\n\ntiger cat nan\n", "line 3: no two words and a finite rating"),
    "only a heading": ("a b c\n", "line 1: no two words"),
    "only a table's heading": (",word1,word2,similarity\n0,,,\n", "pairs holds no pairs"),
    "no column": (",word1,word2,score\n0,a,b,1\n", "line 1: no column similarity; needed word1, word2, similarity"),
    "a short row": (",word1,word2,similarity\n0,a,b\n", "line 2: no two words"),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_broken(text: str, said: str) -> None:
    Path("pairs").write_text(text)
    with pytest.raises(UserError, match=said):
        read("pairs")


def test_correlations_by_hand() -> None:
    """Ranks of (1, 2, 2, 5) are (1, 2.5, 2.5, 4); with (1, 2, 3, 4) the correlation is 4.5 / sqrt(4.5 * 5)."""
    x, y = np.array([1, 2, 2, 5.0]), np.array([10, 20, 30, 40.0])
    assert ranks_of(np.array([0, 1, 1, 2]), 3).tolist() == [1, 2.5, 2.5, 4]
    assert spearman(x, y) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
    assert pearson(np.array([1, 2, 3.0]), np.array([2, 4, 9.0])) == pytest.approx(7 / (2 * 26) ** 0.5)
    assert spearman(x, -x) == -1.0
    assert spearman(x[:2], y[:2]) is None and spearman(np.ones(4), y) is None


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=3, max_size=20))
def test_scipy_finds_the_same(pairs: list[tuple[int, int]]) -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    x, y = np.array(pairs, float).T
    ours = spearman(x, y), pearson(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert ours == (None, None)
    else:
        assert ours == (pytest.approx(stats.spearmanr(x, y)[0]), pytest.approx(stats.pearsonr(x, y)[0]))


@pytest.fixture
def vectors() -> WordVectors:
    """Words at angles of 0, 10, 30, 60 and 90 degrees."""
    angles = np.radians([0, 10, 30, 60, 90])
    return WordVectors(["a", "b", "c", "d", "e"], np.stack([np.cos(angles), np.sin(angles)], 1))


def test_agreement(vectors: WordVectors) -> None:
    pairs = [("a", "b"), ("A", "c"), ("a", "d"), ("a", "e"), ("a", "unknown")]
    found = evaluate(vectors, Ratings("pairs", pairs, [9, 8, 1, 2, 10]))
    assert (found.pairs, found.covered, found.coverage) == (5, 4, 0.8)
    assert found.spearman == pytest.approx(0.8)  # one neighbouring pair is the wrong way round
    cosines = np.cos(np.radians([10, 30, 60, 90]))
    assert found.pearson == pytest.approx(np.corrcoef(cosines, [9, 8, 1, 2])[0, 1], abs=1e-6)
    assert found.bands == {"the first 1,000 words": (4, pytest.approx(0.8))}
    low, high = found.interval or (0, 0)
    assert -1 <= low < 0.8 < high <= 1
    assert found.as_dict()["bands"]["the first 1,000 words"]["pairs"] == 4
    assert evaluate(vectors, Ratings("pairs", pairs, [9, 8, 1, 2, 10])) == found


def test_too_few(vectors: WordVectors) -> None:
    found = evaluate(vectors, Ratings("pairs", [("a", "b"), ("x", "y")], [1, 2]))
    assert (found.covered, found.spearman, found.pearson, found.interval) == (1, None, None, None)
    assert evaluate(vectors, Ratings("pairs", [("x", "y")], [2])).bands == {}


def test_unseen_words_by_their_spelling(vectors: WordVectors) -> None:
    table = np.random.default_rng(1).normal(size=(9, 2)).astype(np.float32)
    spelt = WordVectors(vectors.words, vectors.matrix, spelling=Spelling(3, 6, table))
    ratings = Ratings("pairs", [("a", "b"), ("a", "c"), ("a", "unseen"), ("unknown", "e")], [1, 2, 3, 4])
    assert evaluate(spelt, ratings).covered == 2
    found = evaluate(spelt, ratings, unseen=True)
    assert found.covered == 4 and sum(pairs for pairs, _ in found.bands.values()) == 4
    assert evaluate(spelt, ratings).covered == evaluate(vectors, ratings).covered == 2
    with pytest.raises(UserError, match=r"these have none; train with spelling=ngrams, or leave it out$"):
        evaluate(vectors, ratings, unseen=True)


def test_the_interval_covers_the_truth() -> None:
    """Of pairs with a known correlation of ranks, about 95 of 100 intervals hold it."""
    draw, held = np.random.default_rng(3), 0
    for seed in range(60):
        x = draw.normal(size=80)
        y = 0.6 * x + 0.8 * draw.normal(size=80)  # Pearson 0.6: Spearman 6 / pi asin(0.3)
        words = [f"w{number}" for number in range(81)]
        angles = np.append(0, np.argsort(np.argsort(-x)) * 0.03)
        rows = np.stack([np.cos(angles), np.sin(angles)], 1)
        ratings = Ratings("pairs", [("w0", word) for word in words[1:]], y.tolist())
        low, high = evaluate(WordVectors(words, rows), ratings, seed=seed).interval or (0, 0)
        held += low <= 6 / np.pi * np.arcsin(0.3) <= high
    assert 50 <= held <= 60


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        *(("gensim-wordsim353.tsv", 353), ("wordsim353-rel.csv", 252), ("wordsim353-sim.csv", 203), ("men.csv", 3000)),
        *(("rw.csv", 2034), ("simlex999.csv", 999), ("simverb-3500.csv", 3500), ("mturk-771.csv", 771)),
        *(("rg-65.csv", 65), ("mc-30.csv", 30)),
    ],
)
def test_the_real_files(name: str, pairs: int) -> None:
    if not (DATA / name).is_file():
        pytest.skip(f"word-eval/{name} is not under FORESAY_DATA")
    ratings = read(DATA / name)
    assert len(ratings.pairs) == pairs
    words = list(dict.fromkeys(word.lower() for pair in ratings.pairs for word in pair))
    vectors = WordVectors(words, np.random.default_rng(1).normal(size=(len(words), 5)))
    found = evaluate(vectors, ratings)
    assert found.coverage == 1.0 and abs(found.spearman or 0) < 0.3
    assert not any(word.endswith("-n") for word in words)


@pytest.mark.data
def test_gensim_finds_the_same() -> None:
    pytest.importorskip("gensim", reason="gensim is not installed")
    path = DATA / "gensim-wordsim353.tsv"
    if not path.is_file():
        pytest.skip("word-eval/gensim-wordsim353.tsv is not under FORESAY_DATA")
    words = list(dict.fromkeys(word.lower() for pair in read(path).pairs for word in pair))[:350]
    vectors = WordVectors(words, np.random.default_rng(1).normal(size=(len(words), 5)))
    theirs = vectors.to_gensim().evaluate_word_pairs(str(path))
    ours = evaluate(vectors, read(path))
    assert (ours.pearson, ours.spearman) == (pytest.approx(theirs[0][0]), pytest.approx(theirs[1][0]))
    assert 100 * (1 - ours.coverage) == pytest.approx(theirs[2])
