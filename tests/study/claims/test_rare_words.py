"""The claim `rare-words`: its rule, its differences, and a whole run of the smallest size."""

from __future__ import annotations

import numpy as np
import pytest

from foresay.study.claims import rare_words, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.rare_words import ALL, BANDS, Scored, differences, judge, leads, score
from foresay.study.claims.words_text import judges
from foresay.train.progress import Watch
from foresay.vectors.word_vectors import WordVectors

FIRST, RAREST = BANDS[0], BANDS[-1]


@pytest.mark.parametrize(
    "overall, lead, quick, verdict",
    [
        ((0.1, 1), (0.1, 2), True, "holds"),
        ((0.1, 1), (-0.1, 2), False, "not decided at this size"),
        ((-0.1, 1), (0.1, 2), False, "not decided at this size"),
        ((0.1, 1), (-2, -0.1), False, "does not hold"),  # better, but not for rare words
        ((-1, -0.1), (0.1, 2), False, "does not hold"),
        ((0.1, 1), (-2, -0.1), True, "not decided at this size"),
    ],
)
def test_the_rule(overall, lead, quick, verdict):
    assert judge(Figure("", 0, *overall), Figure("", 0, *lead), quick) == verdict


def scored(name: str, seed: int, analogies: list[float], ratings: list[float]) -> Scored:
    """Of all words, of the first band and of the rarest one."""
    bands = (ALL, FIRST, RAREST)
    return Scored(name, seed, {"analogies": dict(zip(bands, analogies)), "ratings": dict(zip(bands, ratings))})  # noqa: B905


def test_differences_by_hand():
    found = [
        scored("skip-gram", 1, [10, 50, 5], [40, 60, 30]),
        scored("CBOW", 1, [8, 40, 1], [40, 58, 20]),
        scored("skip-gram", 2, [10, 50, 5], [40, 60]),  # too few rare pairs
        scored("CBOW", 2, [12, 40, 1], [38, 58]),
    ]
    assert differences(found[:2]) == {ALL: [1], FIRST: [6], RAREST: [7]}
    assert differences(found) == {ALL: [1, 0], FIRST: [6, 6]}
    lead = leads({ALL: [1, 1], FIRST: [6, 2], RAREST: [7, 5]})
    assert lead.value == 2 and lead.low is not None and lead.low < 1


def test_scores_of_vectors(small_data, monkeypatch):
    """All words are of the first band, so that it is the whole."""
    from tests.study.claims.conftest import WORDS

    vectors = WordVectors(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 4)))
    files = judges(*rare_words.JUDGES)
    assert files is not None
    found = score(vectors, files)
    assert set(found["analogies"]) == {ALL, FIRST} == set(found["ratings"])
    assert found["ratings"][ALL] == pytest.approx(found["ratings"][FIRST])
    monkeypatch.setattr(rare_words, "FEWEST", 61)
    assert set(score(vectors, files)["analogies"]) == {ALL}


def test_a_whole_run(monkeypatch, tmp_path, small_data):
    monkeypatch.setattr(rare_words, "QUICK", {"words": 4000, "epochs": 1})
    found = runner.run_claim("rare-words", quick=True, out=tmp_path, watch=Watch())
    assert found["figures"][0]["name"] == "skip-gram − CBOW, all words" and len(found["details"]["runs"]) == 6
    assert found["verdict"] == "not decided at this size" and (tmp_path / "rare-words.png").stat().st_size > 10_000


def test_without_data_it_says_what_to_fetch(monkeypatch, tmp_path):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    found = runner.run_claim("rare-words", quick=True, out=tmp_path, watch=Watch())
    assert found["verdict"] == "no data" and "set FORESAY_DATA" in found["note"] and "rw.csv" in found["note"]
