"""The claim `huffman`: its rule, its distributions, and a whole run of the smallest size."""

from __future__ import annotations

import json

import numpy as np
import pytest

from foresay.study.claims import huffman, runner
from foresay.study.claims.huffman import Distribution, Measured, entropy, figures, judge, measure, texts, zipfs
from foresay.study.cooccurrence import CountedVectors, count_vectors
from foresay.train.progress import Watch


def measured(entropy: float, depth: float, *others: float) -> Measured:
    return Measured("made", 4, entropy, {"Huffman": [depth], "balanced": list(others[:1]), "random": list(others[1:])})


GOOD = measured(1.75, 1.75, 2.0, 1.9, 2.1)


@pytest.mark.parametrize(
    "found, verdict",
    [
        ([GOOD], "holds"),
        ([GOOD, measured(2.0, 2.9999, 3.0, 3.0)], "holds"),
        ([measured(2.0, 2.0, 2.0, 2.0 - 1e-12)], "holds"),  # equal to rounding
        ([GOOD, measured(2.0, 3.0, 3.0, 3.0)], "does not hold"),  # not below H(P) + 1
        ([GOOD, measured(2.0, 1.99, 3.0, 3.0)], "does not hold"),  # below H(P)
        ([GOOD, measured(2.0, 2.5, 3.0, 2.6, 2.4)], "does not hold"),  # one seed of another tree is lower
    ],
)
def test_the_rule(found, verdict):
    assert judge(found) == verdict


def test_a_distribution_by_hand():
    """1/2 1/4 1/8 1/8: H = 1.75 = Huffman's depth; any cut into halves gives 2."""
    found = measure(Distribution("made", np.array([4, 2, 1, 1]), np.eye(4)), range(3))
    assert found.entropy == found.huffman == 1.75 and found.words == 4
    assert (
        found.depths["balanced"] == [2.0] and found.depths["semantic"] == found.depths["random, cut half"] == [2.0] * 3
    )
    assert len(found.depths["random, cut anywhere"]) == 3 and found.lowest_other >= 1.75
    assert "semantic" not in measure(Distribution("made", np.ones(4)), range(2)).depths


def test_zipf_and_entropy_by_hand():
    found = {one.name: one.counts.tolist() for one in zipfs([2])}
    assert found["Zipf, exponent 0"] == [1, 1] and found["Zipf, exponent 1"] == [1, 0.5]
    assert found["Zipf, exponent 0.5"] == [1, 2**-0.5] and len(found) == len(huffman.EXPONENTS)
    assert entropy(np.array([2, 1, 1, 0])) == 1.5


def test_the_words_of_a_text_are_taken_from_the_most_frequent_on():
    text = CountedVectors(list("abcdefghijklmnopqr"), np.arange(18, 0, -1), np.zeros((18, 2)))
    assert [len(one.counts) for one in texts(text)] == [4, 16, 18]
    assert texts(text)[0].counts.tolist() == [18, 17, 16, 15] and texts(text)[1].vectors.shape == (16, 2)


def test_figures_are_of_the_whole_text():
    large = Measured(huffman.TEXT, 1234, 9.0, {"Huffman": [9.02], "balanced": [10.5], "random": [10.4, 10.6]})
    found = {one.name: one for one in figures([GOOD, Measured(huffman.TEXT, 4, 1.0, GOOD.depths), large])}
    assert found["H(P) of 1,234 words of the Python reference"].value == 9.0
    random = found["random: E[depth] over 1,234 words of the Python reference"]
    assert random.value == pytest.approx(10.5) and random.low < 10.4 and random.high > 10.6
    least, most, lead = (one.value for one in list(found.values())[-3:])
    assert (least, most, lead) == pytest.approx((0, 0.75, 0.15))


@pytest.mark.parametrize("quick", [True, False])
def test_a_whole_run(quick, monkeypatch, tmp_path):
    monkeypatch.setattr(huffman, "SIZES", (3, 20))
    monkeypatch.setattr(huffman, "LARGE", (50,))
    monkeypatch.setattr(huffman, "SEEDS", 2)
    text = count_vectors("the cat sees the dog and the dog sees a cat , the bird sees it all and sings .", size=3)
    monkeypatch.setattr(huffman, "count_vectors", lambda _: text)
    found = runner.run_claim("huffman", quick=quick, out=tmp_path, watch=Watch())
    assert found["verdict"] == "holds"
    saved = json.loads((tmp_path / "huffman.json").read_text("utf-8"))["details"]["distributions"]
    assert [one["words"] for one in saved] == [4, len(text.words), *([3, 20] if quick else [3, 20, 50]) * 5]
    assert (tmp_path / "huffman.png").stat().st_size > 10_000
