"""The claim on one-hot words: its rule, the same text and batches for both, the gap and the parameters by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from foresay.study.claims import one_hot as claim
from foresay.study.claims.claim import Figure
from foresay.study.claims.one_hot import (
    EMBEDDED,
    HIDDEN,
    ONE_HOT,
    VOCABULARIES,
    Size,
    Trained,
    build,
    judge,
    limited,
    nats,
    picture,
    pieces,
    trained,
    windows,
)
from foresay.study.recall import count
from foresay.text.tokens import UNK

TINY = Size(updates=4, words=60, asked=80, rows=3, chunk=5)


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("more", "slower", "quick", "verdict"),
    [
        ((0.1, 0.3), (1.5, 2), True, "holds"),
        ((-0.1, 0.3), (1.5, 2), False, "not decided at this size"),
        ((0.1, 0.3), (0.9, 2), False, "not decided at this size"),
        ((-0.3, -0.1), (1.5, 2), True, "not decided at this size"),
        ((-0.3, -0.1), (1.5, 2), False, "does not hold"),
        ((0.1, 0.3), (0.5, 0.9), False, "does not hold"),
    ],
)
def test_the_rule(more, slower, quick, verdict):
    assert judge(figure(*more), figure(*slower), quick) == verdict


def test_parameters_by_hand():
    """Input weights of V or 32 rows, and a table of vectors; all else is the same."""
    rows = 100
    hot, table = (count(build(name, rows, 1)) for name in (ONE_HOT, EMBEDDED))
    assert hot - table == 4 * HIDDEN * (rows - 32) - 32 * rows


def test_rarer_words_are_unknown():
    assert limited(np.array([0, 9, 10, 99]), 10).tolist() == [0, 9, UNK, UNK]


def test_the_text_has_as_many_words_as_the_largest_vocabulary():
    """Else most of its symbols would be words that never come."""
    assert min(len(claim.built_in(seed, least=1)[0].words) for seed in (3, 5)) > VOCABULARIES[-1]


def test_pieces_predict_the_next_word():
    batch = pieces(np.arange(20), np.array([0, 7]), 3)
    assert batch.ids is not None and batch.targets is not None
    assert batch.ids.tolist() == [[0, 1, 2], [7, 8, 9]] and batch.targets.tolist() == [[1, 2, 3], [8, 9, 10]]
    drawn = windows(np.arange(7), Size(updates=0, rows=200, chunk=5), np.random.default_rng(1))
    assert drawn.ids is not None and drawn.ids.shape == (200, 5) and set(drawn.ids[:, 0].tolist()) == {0, 1}


@pytest.mark.parametrize("name", [ONE_HOT, EMBEDDED])
def test_nats_of_a_model_that_knows_only_how_often_words_come(name):
    """Without features P is the softmax of the biases: -log P of each target, by hand."""
    model, ids = build(name, 8, 1), np.array([5, 6, 7, 5, 6, 7, 5, 6, 5, 5, 5])
    with torch.no_grad():
        model.output.weight.zero_()
        model.output.bias.copy_(torch.arange(8.0))
    logs = torch.arange(8.0).log_softmax(0)
    asked = [6, 7, 5, 6, 7, 5, 6, 5, 5]  # three pieces of three words; one is left over
    assert nats(model, ids, Size(updates=0, rows=2, chunk=3)) == pytest.approx(-float(logs[asked].mean()), abs=1e-5)


def test_both_learn_the_same_batches_and_are_asked_the_same(small_texts, monkeypatch):
    seen: list[list[int]] = []
    plain = claim.windows
    monkeypatch.setattr(claim, "built_in", lambda seed, least: small_texts(seed))
    monkeypatch.setattr(claim, "windows", lambda *given: (batch := plain(*given), seen.append(batch.ids.tolist()))[0])
    hot, table = trained(3, 40, TINY)
    assert (hot.reader, table.reader) == (ONE_HOT, EMBEDDED) and len(seen) == 8
    assert seen[0::2] == seen[1::2] and seen[0] != seen[2]
    assert hot.learnt != table.learnt and hot.gap == hot.held_out - hot.learnt and hot.seconds > 0


def test_learning_a_text_by_heart_widens_the_gap(small_texts, monkeypatch):
    monkeypatch.setattr(claim, "built_in", lambda seed, least: small_texts(seed))
    size = Size(updates=60, words=60, asked=300, rows=8, chunk=8, rate=0.02)
    for one in trained(3, 40, size):
        assert one.learnt < 1.5 and one.gap > 2


def test_a_picture_by_vocabulary():
    runs = [
        Trained(name, seed, many, 1.0, 1.0 + gap, seconds, 1)
        for name, gap, seconds in ((ONE_HOT, 0.5, 0.3), (EMBEDDED, 0.25, 0.1))
        for seed in (1, 2)
        for many in VOCABULARIES
    ]
    left, right = picture(runs).axes
    assert [line.get_ydata().tolist() for line in left.lines[:2]] == [[0.5] * 3, [0.25] * 3]
    assert right.lines[0].get_ydata().tolist() == pytest.approx([3.0] * 3)
    assert [one.get_text() for one in right.get_xticklabels()] == ["250", "1,000", "2,500"]
