"""Accuracy and F1 of tags: equal to seqeval's and scikit-learn's on fuzzed sequences."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import accuracy_score
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support
from sklearn.metrics import precision_recall_fscore_support as by_tag

from foresay.train.tagged import Hits, TagFigures, figures

SPANS = ["O", "O", *(f"{letter}-{kind}" for letter in "BIES" for kind in "xyz")]
texts = st.lists(
    st.lists(st.tuples(st.sampled_from(SPANS), st.sampled_from(SPANS)), min_size=1, max_size=9), min_size=1
)


def judged(pairs: list[list[tuple[str, str]]], *, spans: bool = True) -> tuple[TagFigures, list, list]:
    true, predicted = ([[pair[side] for pair in row] for row in pairs] for side in (0, 1))
    unknown = [np.arange(len(row)) == 0 for row in pairs]
    return figures(true, predicted, unknown, loss=0.5, of=100, spans=spans), true, predicted


@given(texts)
def test_spans_and_accuracy_are_seqevals(pairs):
    found, true, predicted = judged(pairs)
    assert found.accuracy == pytest.approx(accuracy_score(true, predicted))
    assert found.spans is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # types that were never predicted
        expected = precision_recall_fscore_support(true, predicted, average="micro", zero_division=0)
        each = precision_recall_fscore_support(true, predicted, average=None, zero_division=0)
    got = (found.spans.precision, found.spans.recall, found.spans.f1, found.spans.true)
    assert got == pytest.approx(tuple(map(float, expected)))
    table = [(hits.precision, hits.recall, hits.f1, hits.true) for hits in found.table.values()]
    assert np.allclose(np.array(table).reshape(-1, 4), np.stack(each, 1).reshape(-1, 4))


@given(st.lists(st.lists(st.tuples(st.sampled_from("NVA"), st.sampled_from("NVA")), min_size=1), min_size=1))
def test_tags_are_scikit_learns(pairs):
    found, true, predicted = judged(pairs, spans=False)
    assert found.spans is None and math.isnan(found.f1_interval[0])
    flat = [sum(side, []) for side in (true, predicted)]  # noqa: RUF017 - short
    each = by_tag(*flat, average=None, zero_division=0, labels=sorted({*flat[0], *flat[1]}))
    table = [(hits.precision, hits.recall, hits.f1, hits.true) for hits in found.table.values()]
    assert np.allclose(table, np.stack(each, 1))


def test_unknown_words_intervals_and_what_is_said():
    right, wrong = ("B-x", "B-x"), ("B-x", "O")
    found, *_ = judged([[right, right, wrong], [wrong, right]] * 50)
    assert (found.tokens, found.of, found.accuracy) == (250, 100, pytest.approx(0.6))
    assert found.unknown == pytest.approx(0.4) and found.unknown_accuracy == pytest.approx(0.5)
    # the shares of the two kinds of sentence are drawn: deviation of the mean about 0.0068
    assert 0.58 < found.accuracy_interval[0] < 0.592 < 0.608 < found.accuracy_interval[1] < 0.62
    assert found.spans == Hits(right=150, predicted=150, true=250) and found.spans.f1 == pytest.approx(0.75)
    assert found.f1_interval[0] < 0.75 < found.f1_interval[1]
    assert found.spelt() == "valid loss 0.5000, accuracy 60.00 %, span F1 75.00 %"
    assert found.as_dict()["spans"]["recall"] == pytest.approx(0.6)
    assert Hits(0, 0, 0).f1 == Hits(0, 0, 3).precision == Hits(0, 2, 0).recall == 0
