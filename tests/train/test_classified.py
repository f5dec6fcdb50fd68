"""Figures of a classifier against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from foresay.train.classified import judged

NAMES = ("a", "b", "c", "d")


def test_against_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(1)
    truths = random.integers(0, 3, 500)  # d never stands in a text
    answers = np.where(random.random(500) < 0.7, truths, random.integers(0, 3, 500))
    found = judged(NAMES, truths, answers, 0.5, 9)
    assert found.accuracy == pytest.approx(metrics.accuracy_score(truths, answers))
    assert found.macro_f1 == pytest.approx(metrics.f1_score(truths, answers, average="macro"))
    assert found.confusion is not None
    assert found.confusion.tolist() == metrics.confusion_matrix(truths, answers, labels=range(4)).tolist()
    precision, recall, f1, texts = metrics.precision_recall_fscore_support(
        truths, answers, labels=range(4), zero_division=0
    )
    for number, one in enumerate(found.labels().values()):
        assert list(one.values()) == pytest.approx([precision[number], recall[number], f1[number], texts[number]])
    assert found.most_frequent == pytest.approx(np.bincount(truths).max() / 500)
    several = np.eye(4)[truths] + np.eye(4)[(truths + 1) % 4] * (truths > 1)[:, None]
    both = np.eye(4)[answers]
    found = judged(NAMES, several, both, 0.5)
    assert found.macro_f1 == pytest.approx(metrics.f1_score(several, both, average="macro", zero_division=0))
    assert found.accuracy == pytest.approx(metrics.accuracy_score(several, both)) and found.confusion is None
    assert found.most_frequent == pytest.approx(np.bincount(truths).max() / 500)  # as many sets as single labels here


def test_intervals_are_as_wide_as_they_should_be():
    """Of 1,000 texts of which 800 are right, the binomial's interval: 0.8 -+ 1.96 sqrt(0.8 * 0.2 / 1000)."""
    truths = np.arange(1000) % 2
    answers = np.where(np.arange(1000) % 10 < 8, truths, 1 - truths)
    found = judged(("0", "1"), truths, answers, 0.1)
    wide = 1.96 * (0.8 * 0.2 / 1000) ** 0.5
    assert found.accuracy_interval == pytest.approx((0.8 - wide, 0.8 + wide), abs=0.004)
    assert found.macro_f1_interval == pytest.approx((0.8 - wide, 0.8 + wide), abs=0.006)


def test_one_text():
    found = judged(("0", "1"), np.array([1]), np.array([1]), 0.1)
    assert found.accuracy == found.macro_f1 == 1.0 and found.accuracy_interval == (1.0, 1.0)
