"""The claim `printed-analogies`: its list, its ranks, its rule, and a whole run of the smallest size."""

from __future__ import annotations

import numpy as np
import pytest

from foresay.study.claims import printed_analogies, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.printed_analogies import PRINTED, Ranked, judge, median_rank, rank_of
from foresay.train.progress import Watch
from foresay.vectors.word_vectors import WordVectors


def test_the_list_has_four_words_a_line():
    assert len(PRINTED) == 20 and all(len({*words}) == 4 for words in PRINTED)
    assert ["man", "king", "woman", "queen"] in PRINTED


@pytest.mark.parametrize(
    "low, high, quick, verdict",
    [
        (51, 60, True, "holds"),
        (49, 60, False, "not decided at this size"),
        (30, 49, False, "does not hold"),
        (30, 49, True, "not decided at this size"),
    ],
)
def test_the_rule(low, high, quick, verdict):
    assert judge(Figure("", 50, low, high), quick) == verdict


def test_ranks_by_hand():
    """b - a + c of unit vectors is about (-0.3, 0.7, 1); woman is nearer to it than pawn, and does not count."""
    words = {
        "man": (1, 0, 0),
        "king": (1, 1, 0),
        "woman": (0, 0, 1),
        "queen": (0, 1, 2),
        "rook": (0, 1, 1),
        "pawn": (1, 0, 1),
    }
    vectors = WordVectors(list(words), np.array(list(words.values()), np.float32))
    target = np.array([2**-0.5 - 1, 2**-0.5, 1])
    cosines = {word: target @ np.array(own) / np.linalg.norm(own) for word, own in words.items()}
    order = sorted(("queen", "rook", "pawn"), key=lambda word: -cosines[word])
    for rank, word in enumerate(order, 1):
        assert rank_of(vectors, ["man", "king", "woman", word]) == rank
    assert cosines["woman"] > cosines["pawn"] and rank_of(vectors, ["man", "king", "woman", "bishop"]) is None


def test_shares_and_medians_by_hand():
    one = Ranked(1, [1, 1, 1, 7, None])
    assert one.first == 60
    assert median_rank([one, Ranked(2, [1, 4, 9, 16, None])], 100).value == pytest.approx(3)  # of 1 and 9, geometric


def test_a_whole_run(monkeypatch, tmp_path, small_data):
    monkeypatch.setattr(printed_analogies, "QUICK", {"words": 4000, "epochs": 1})
    monkeypatch.setattr(
        printed_analogies, "PRINTED", [["cat", "dog", "small", "old"], ["cat", "dog", "small", "zebra"]]
    )
    found = runner.run_claim("printed-analogies", quick=True, out=tmp_path, watch=Watch())
    assert all(one["ranks"][1] is None and 1 <= one["ranks"][0] <= 16 for one in found["details"]["runs"])
    assert (tmp_path / "printed-analogies.png").stat().st_size > 10_000


def test_without_data_it_says_what_to_fetch(monkeypatch, tmp_path):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    found = runner.run_claim("printed-analogies", quick=True, out=tmp_path, watch=Watch())
    assert found["verdict"] == "no data" and found["note"].endswith("text8/text8 (mattmahoney.net/dc/text8.zip)")
