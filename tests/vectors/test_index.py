"""The index: all lists searched is exact, few lists find most; the same seed gives the same."""

from __future__ import annotations

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.vectors.word_vectors import WordVectors

V, D = 3000, 20


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    """Words in about a hundred heaps, as real ones are."""
    draw = np.random.default_rng(2)
    heaps = draw.normal(size=(100, D))
    matrix = heaps[draw.integers(0, 100, V)] + 0.6 * draw.normal(size=(V, D))
    return WordVectors([f"w{number}" for number in range(V)], matrix)


def test_every_list_is_exact(vectors: WordVectors) -> None:
    index = vectors.index(lists=40, probes=40)
    for question in ("w0", "w1234", vectors["w7"] + vectors["w8"]):
        exact, found = vectors.near(question, 12), vectors.near(question, 12, index=index)
        assert [word for word, _ in found] == [word for word, _ in exact]
        assert [cosine for _, cosine in found] == pytest.approx([cosine for _, cosine in exact], abs=1e-6)


def test_few_lists_find_most(vectors: WordVectors) -> None:
    index = vectors.index(lists=55, probes=8)
    asked = vectors.words[::30]
    exact, found = vectors.near(asked, 10), vectors.near(asked, 10, index=index)
    pairs = zip(exact, found, strict=True)
    shared = [len({word for word, _ in one} & {word for word, _ in other}) for one, other in pairs]
    recall = sum(shared) / (10 * len(asked))
    searched = float(np.sort(np.diff(index.first))[-8:].sum()) / V  # at most
    assert recall > 0.9 and searched < 0.4, (recall, searched)
    assert all(word != question for question, one in zip(asked, found, strict=True) for word, _ in one)


def test_the_same_seed_the_same_index(vectors: WordVectors) -> None:
    one, same, other = (vectors.index(lists=20, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.centres, same.centres) and np.array_equal(one.rows, same.rows)
    assert not np.array_equal(one.centres, other.centres)


def test_small_and_strange_ones() -> None:
    few = WordVectors(["a", "b", "c"], [[1, 0], [1, 0], [0, 0]])
    assert few.near("a", 5, index=few.index(lists=9, probes=9)) == [("b", 1.0), ("c", 0.0)]
    assert few.near("a", 5, index=few.index()) in ([("b", 1.0), ("c", 0.0)], [("b", 1.0)])
    with pytest.raises(UserError, match=r"the index is of \(3, 2\) vectors, these are \(1, 2\); make it anew"):
        WordVectors(["a"], [[1, 2]]).near("a", index=few.index())
    with pytest.raises(UserError, match="lists=0; allowed"):
        few.index(lists=0)
