"""Loss and weights of labels against torch and by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from foresay.data.batch import Batch
from foresay.data.label_shards import LabelSet
from foresay.errors import UserError
from foresay.models.labelling import Labelling

Z = torch.tensor([[0.0, math.log(3.0)], [0.0, 0.0], [math.log(4.0), 0.0]])


class Fixed(Labelling):
    """Scores that are given."""

    def scores(self, batch: Batch) -> torch.Tensor:
        return Z


def build(weights: Any, several: bool = False) -> Fixed:
    model = Fixed()
    model.learn_labels(LabelSet(("no", "yes"), several, (6, 2)))
    model.weigh(weights)
    return model


def test_one_label_by_hand():
    """P = (1/4, 3/4), (1/2, 1/2), (4/5, 1/5); labels yes, no, no."""
    labels = Batch(labels=torch.tensor([1, 0, 0]))
    nats = [-math.log(0.75), -math.log(0.5), -math.log(0.8)]
    assert build(None).loss(labels)[0].item() == pytest.approx(sum(nats) / 3)
    weighed = (2 * nats[0] + nats[1] + nats[2]) / (2 + 1 + 1)
    assert build({"yes": 2.0}).loss(labels)[0].item() == pytest.approx(weighed)
    no, yes = 8 / (2 * 6), 8 / (2 * 2)  # balanced
    weighed = (yes * nats[0] + no * nats[1] + no * nats[2]) / (yes + 2 * no)
    assert build("balanced").loss(labels)[0].item() == pytest.approx(weighed)
    assert build("balanced").nats(labels)[0].tolist() == pytest.approx(nats)  # measured without weights


def test_a_batch_counts_by_the_weights_of_its_labels() -> None:
    """So parts of a batch, counted so, have together the mean loss of all: sum w loss / sum w."""
    labels = Batch(labels=torch.tensor([1, 0, 0]))
    assert (build(None).weight_of(labels), build({"yes": 2.0}).weight_of(labels)) == (3, 4.0)


def test_several_labels_by_hand():
    """P of having each: (1/2, 3/4), (1/2, 1/2), (4/5, 1/2)."""
    labels = Batch(labels=torch.tensor([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]))
    first, second = [0.5, 0.5, 0.8], [0.75, 0.5, 0.5]
    no, yes = (sum(-math.log(p) for p in one) / 3 for one in (first, second))
    assert build(None, True).loss(labels)[0].item() == pytest.approx(no + yes)
    assert build({"yes": 3.0}, True).loss(labels)[0].item() == pytest.approx(no + 3 * yes)
    assert build(None, True).log_probs(labels).exp()[2].tolist() == pytest.approx([0.8, 0.5])


def test_weights_stay_with_the_tensors():
    assert build("balanced").tensors()["weights"].tolist() == pytest.approx([8 / 12, 8 / 4])
    assert not build(None).tensors()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"yse": 2.0}, "weights has 'yse', which is no label; allowed: no, yes; did you mean 'yes'"),
        ({"yes": 0.0}, "weights: 'yes' weighs 0; allowed: finite numbers > 0"),
        ({"yes": float("inf")}, "weights: 'yes' weighs inf; allowed: finite numbers > 0"),
    ],
)
def test_weights_that_cannot_be(weights, message):
    with pytest.raises(UserError, match=message):
        build(weights)
