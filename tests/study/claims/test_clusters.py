"""The claim `clusters`: its rule, silhouette and purity by hand and against scikit-learn, its lists, and whole runs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from foresay.study.claims import clusters, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.clusters import (
    ALIKE,
    KINDS,
    LISTS,
    PURITY,
    REFERENCE,
    SILHOUETTE,
    TOPICS,
    WIKIPEDIA,
    Clustered,
    Size,
    draw,
    gains,
    judge,
    known,
    look,
    placed,
    purity,
    silhouette,
)
from foresay.study.claims.words_text import built_in
from foresay.train.progress import Watch
from foresay.vectors.word_vectors import WordVectors


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("other", "quick", "verdict"),
    [
        ((0.1, 0.2), True, "holds"),
        ((-0.1, 0.2), False, "not decided at this size"),
        ((-0.3, -0.1), True, "not decided at this size"),
        ((-0.3, -0.1), False, "does not hold"),
    ],
)
def test_the_rule(other, quick, verdict):
    assert judge([figure(0.2, 0.3), figure(*other)], quick) == verdict


def test_silhouette_by_hand():
    """Points 0 and 1 of one list, 4 and 6 of the other: (4 / 5, 3 / 4, 1.5 / 3.5, 3.5 / 5.5)."""
    points = np.array([0.0, 1, 4, 6])
    away = np.abs(points[:, None] - points)
    assert silhouette(away, np.array([0, 0, 1, 1])) == pytest.approx((4 / 5 + 3 / 4 + 1.5 / 3.5 + 3.5 / 5.5) / 4)


@pytest.mark.parametrize("seed", [1, 2])
def test_silhouette_is_that_of_scikit_learn(seed):
    from sklearn.metrics import pairwise_distances, silhouette_score

    chance = np.random.default_rng(seed)
    rows, labels = chance.normal(size=(40, 5)), chance.permutation(np.repeat([0, 1, 2, 3], [4, 8, 12, 16]))
    away = pairwise_distances(rows, metric="cosine")
    assert silhouette(away, labels) == pytest.approx(float(silhouette_score(rows, labels, metric="cosine")), abs=1e-9)


def test_purity_by_hand():
    """The word nearest to 0, 1, 3, 4 and 9 is 1, 0, 4, 3 and 4; of the two nearest to 3 one is 1."""
    points = np.array([0.0, 1, 3, 4, 9])
    away, labels = np.abs(points[:, None] - points), np.array([0, 0, 1, 1, 0])
    assert purity(away, labels, 1) == 4 / 5
    assert purity(away, labels, 2) == (1 + 1 + 1 + 1 + 0) / 10


def test_no_word_is_in_two_lists_of_a_kind():
    for kinds in LISTS.values():
        assert set(kinds) == set(KINDS)
        for lists in kinds.values():
            words = list(itertools.chain.from_iterable(words.split() for words in lists.values()))
            assert len(words) == len(set(words)) and all(word == word.lower() for word in words)


@pytest.mark.parametrize("kind", KINDS)
def test_the_built_in_text_has_its_words(kind):
    for seed in (3, 5):
        words = built_in(seed)[0].words
        lists = known(REFERENCE, kind, words)
        wanted = LISTS[REFERENCE][kind]
        assert len(lists) == len(wanted) and sum(map(len, lists.values())) > 0.9 * sum(
            len(own.split()) for own in wanted.values()
        )


def vectors(spread: float) -> WordVectors:
    """Words of a list about one direction."""
    chance, lists = np.random.default_rng(1), LISTS[REFERENCE]
    words, rows = [], []
    for own in itertools.chain.from_iterable(lists[kind].values() for kind in KINDS):
        middle = chance.normal(size=8)
        for word in own.split():
            words.append(word)
            rows.append(middle + spread * chance.normal(size=8))
    return WordVectors(words, np.array(rows))


def test_lists_without_enough_words_are_left_out():
    some = WordVectors(["int", "float", "str", "list", "one", "two", "pdb"], np.eye(7))
    lists = known(REFERENCE, ALIKE, some)
    assert lists == {"types": ["int", "float", "str", "list"]} and known(REFERENCE, TOPICS, some) == {}
    labels, rows = placed(some, {"a": ["two", "int"], "b": ["pdb"]})
    assert labels.tolist() == [0, 0, 1] and rows.argmax(1).tolist() == [5, 0, 6]


def test_what_clusters_is_told_from_what_does_not():
    near, none = look(vectors(0.1), REFERENCE, ALIKE, 1), look(vectors(30.0), REFERENCE, ALIKE, 1)
    assert near.measured[SILHOUETTE] > 0.8 and near.measured[PURITY] > 0.9
    assert near.tail[SILHOUETTE] < 0.05 and near.tail[PURITY] < 0.35 and near.shuffled[PURITY] < near.tail[PURITY]
    assert none.measured[SILHOUETTE] < 0.05 and none.measured[PURITY] < 0.35


def test_gains_are_above_the_shuffled_labels_of_the_same_seed():
    found = [
        Clustered(REFERENCE, kind, seed, 9, {SILHOUETTE: 0.5, PURITY: 0.8}, {}, {SILHOUETTE: 0.1, PURITY: 0.2 * seed})
        for kind in KINDS
        for seed in (1, 2)
    ]
    assert [one.value for one in gains(found)] == pytest.approx([0.4, 0.5, 0.4, 0.5])


def test_a_map_has_every_word():
    first, second = draw(REFERENCE, vectors(0.1)).axes
    for axes, kind in ((first, ALIKE), (second, TOPICS)):
        assert {one.get_text() for one in axes.texts} == set(" ".join(LISTS[REFERENCE][kind].values()).split())


def test_a_whole_run_without_data(monkeypatch, tmp_path):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    monkeypatch.setattr(clusters, "QUICK", Size(None, 1, small=1))
    monkeypatch.setattr(clusters, "SHUFFLES", 10)
    found = runner.run_claim("clusters", quick=True, out=tmp_path, watch=Watch())
    assert "text8/text8" in found["note"] and len(found["details"]["runs"]) == 6
    assert {one["text"] for one in found["details"]["runs"]} == {REFERENCE}
    assert (tmp_path / "clusters.png").stat().st_size > 10_000


def test_a_whole_run_with_data(monkeypatch, tmp_path):
    folder = tmp_path / "data" / "text8"
    folder.mkdir(parents=True)
    chance, lists = np.random.default_rng(1), LISTS[WIKIPEDIA]
    groups = [own.split() for kind in KINDS for own in lists[kind].values()]
    text = [word for _ in range(600) for word in chance.choice(groups[chance.integers(len(groups))], 6)]
    (folder / "text8").write_text(" ".join(text))
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(clusters, "QUICK", Size(3000, 1, small=1))
    monkeypatch.setattr(clusters, "SHUFFLES", 10)
    found = runner.run_claim("clusters", quick=True, out=tmp_path, watch=Watch())
    assert not found["note"] and {one["text"] for one in found["details"]["runs"]} == {REFERENCE, WIKIPEDIA}
