"""The claim `same-word`: its rule, its sentences, its measures by hand, and a whole run of the smallest size."""

from __future__ import annotations

import random

import pytest
import torch

from foresay.study.claims import runner, same_word
from foresay.study.claims.claim import Figure
from foresay.study.claims.same_word import BOTH, FRAMES, IDS, NOUNS, VERBS, WORDS, Size, compared, judge, sentence
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("apart", "nearest", "verdict"),
    [
        ([(0.1, 0.2), (0.01, 0.4)], [(85, 90), (81, 99)], "holds"),
        ([(0.1, 0.2), (-0.01, 0.4)], [(85, 90), (81, 99)], "not decided at this size"),
        ([(0.1, 0.2), (0.01, 0.4)], [(85, 90), (70, 99)], "not decided at this size"),
        ([(-0.2, -0.1), (-0.2, -0.1)], [(10, 20), (10, 20)], "does not hold"),
        ([(-0.2, -0.1), (0.1, 0.2)], [(10, 20), (85, 90)], "not decided at this size"),
    ],
)
def test_the_rule(apart, nearest, verdict):
    figures = {("apart", layer, True): figure(*one) for layer, one in enumerate(apart, 1)}
    figures |= {("nearest", layer, True): figure(*one) for layer, one in enumerate(nearest, 1)}
    assert judge(figures) == verdict


def test_sentences_have_the_word_in_the_slot():
    chance = random.Random(1)
    for frame, (_, pattern) in enumerate(FRAMES):
        ids, place = sentence(frame, "bear", chance)
        words = [WORDS[number] for number in ids]
        assert words[place] == "bear" and words.count("bear") == 1 and len(words) == len(pattern.split())
        assert all(word in one.split("|") for word, one in zip(words, pattern.split(), strict=True) if word != "bear")
    used = [set(pattern.replace("|", " ").split()) - {"_"} for _, pattern in FRAMES]
    assert len(set().union(*used)) == sum(map(len, used)) and not set().union(*used) & {*NOUNS, *VERBS}  # none in two
    for text in same_word.EXAMPLE:
        assert all(word in IDS for word in text.split()) and "bear" in BOTH


def test_cosines_and_nearest_by_hand():
    """Frames 0 and 1 of one sense, 2 and 3 of the other: what stands in the same frame is not compared."""
    vectors = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    within, between, nearest = compared([vectors], [0, 1, 2, 3], [True, True, False, False])
    # within: 1 and 0; between: 0 and -1 from each of the first two; 2 has equal ones on both sides
    assert within == pytest.approx(0.5) and between == pytest.approx(-0.5)
    assert nearest == pytest.approx(100 * (1 + 1 + 0.5 + 1) / 4)
    same_frame = compared([torch.cat([vectors, vectors[:1]])], [0, 1, 2, 3, 0], [True, True, False, False, True])
    assert same_frame[0] == pytest.approx((1 + 1 + 0) / 3)


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(same_word, "QUICK", Size(2, rows=4, looked=1))
    found = runner.run_claim("same-word", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 18 and len(found["figures"]) == 12
    own = [one for one in found["details"]["runs"] if one["layer"] == 0]
    assert all(one["within"] == pytest.approx(1) == one["between"] and one["nearest"] == 50 for one in own)
    assert (tmp_path / "same-word.png").stat().st_size > 10_000
