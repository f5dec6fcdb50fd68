"""To gensim and back, and the same answers there; skipped where gensim is not installed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.extras import MissingLibrary
from foresay.vectors.word_vectors import WordVectors

WORDS = ["the", "cat", "sat", "on", "mats", "été"]


@pytest.fixture
def vectors() -> WordVectors:
    return WordVectors(WORDS, np.random.default_rng(1).normal(size=(6, 5)), counts=[60, 50, 40, 3, 2, 1])


def close(ours: list[tuple[str, float]], theirs: list[tuple[str, float]]) -> None:
    assert [word for word, _ in ours] == [word for word, _ in theirs]
    assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-6)


def test_there_and_back(vectors: WordVectors) -> None:
    pytest.importorskip("gensim", reason="gensim is not installed")
    keyed = vectors.to_gensim()
    assert keyed.index_to_key == WORDS and keyed.get_vecattr("mats", "count") == 2
    again = WordVectors.from_gensim(keyed)
    assert again.words == WORDS and np.array_equal(again.matrix, vectors.matrix)
    assert again.counts is not None and again.counts.tolist() == [60, 50, 40, 3, 2, 1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # that gensim gives itself
@pytest.mark.filterwarnings("ignore:invalid value encountered in dot")  # BLAS reads past the end of short rows
def test_the_same_answers(vectors: WordVectors) -> None:
    pytest.importorskip("gensim", reason="gensim is not installed")
    keyed = vectors.to_gensim()
    close(vectors.near("cat", 5), keyed.most_similar("cat", topn=5))
    added = keyed.most_similar(positive=["cat", "sat"], negative=["the"], topn=3)
    close(vectors.analogy("the", "cat", "sat", 3), added)
    multiplied = keyed.most_similar_cosmul(positive=["cat", "sat"], negative=["the"], topn=3)
    assert [word for word, _ in vectors.analogy("the", "cat", "sat", 3, "multiply")] == [word for word, _ in multiplied]
    assert vectors.odd(WORDS) == keyed.doesnt_match(WORDS)
    assert vectors.similarity("cat", "sat") == pytest.approx(float(keyed.similarity("cat", "sat")), abs=1e-6)


def test_a_fasttext_model_keeps_its_spelling() -> None:
    gensim = pytest.importorskip("gensim.models", reason="gensim is not installed")
    sentences = [["the", "cat", "sat"], ["der", "naïve", "日本語"]] * 5
    model = gensim.FastText(sentences, vector_size=6, min_count=1, min_n=2, max_n=4, bucket=50, epochs=1, seed=1)
    vectors = WordVectors.from_gensim(model)
    for word in ("cat", "cats", "naïveté", "日本"):
        assert vectors[word].tolist() == pytest.approx(model.wv[word].tolist(), abs=1e-6)


def test_without_gensim(vectors: WordVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingLibrary, match=r"to_gensim needs the library gensim .*pip install 'foresay\[gensim\]'"):
        vectors.to_gensim()
    with pytest.raises(UserError, match="dict has no words and vectors; give gensim's KeyedVectors"):
        WordVectors.from_gensim({})
