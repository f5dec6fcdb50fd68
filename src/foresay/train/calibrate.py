"""The temperature of a classifier, fitted on held-out texts after training (Guo et al. 2017).

    t = argmin_t mean_n -log P(label_n | z_n / t)

In 1 / t the loss is convex: its slope, the sum of (P - label) . z, has one zero, which is searched by halving. Where
every answer is right, or most are wrong, there is none: the temperature stays 1, and that is told.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.data.batches import Batches
from foresay.data.shards import Shards
from foresay.models.labelling import Labelling
from foresay.train.classified import scores_of

HOTTEST = 100.0  # the search is from 1 / this to this
HALVINGS = 60


def calibrate(model: Labelling, batches: Batches, shards: Shards) -> str:
    """Fits the model's temperature on texts, keeps it with the weights, and says so; or why there is none."""
    z, labels, _ = scores_of(model, batches, shards)
    several = model.labels.several
    truths = labels.double() if several else F.one_hot(labels, z.shape[1]).double()
    found = best_temperature(z, truths, several)
    model.get_buffer("temperature").fill_(1.0 if found is None else found)
    if found is not None:
        return f"calibrated on the validation text: scores are divided by {found:.3f}"
    if all_right(z, truths, several):
        right = "the only validation text is" if len(z) == 1 else f"all {len(z):,} validation texts are"
        return f"not calibrated: {right} right"
    return "not calibrated: on the validation text the scores say nothing of the labels"


def all_right(z: Tensor, labels: Tensor, several: bool = False) -> bool:
    """Whether every text, by its scores, gets the labels that it has."""
    return bool(((z > 0) == (labels > 0)).all() if several else (z.argmax(1) == labels.argmax(1)).all())


def best_temperature(z: Tensor, labels: Tensor, several: bool = False) -> float | None:
    """The temperature under which labels (N, C) of 0 and 1 are most probable, given scores z (N, C), where one is."""

    def slope(log_inverse: float) -> float:
        scaled = z * math.exp(log_inverse)
        p = scaled.sigmoid() if several else scaled.softmax(1)
        return float(torch.sum((p - labels) * z))

    low, high = -math.log(HOTTEST), math.log(HOTTEST)
    if all_right(z, labels, several) or not slope(low) <= 0:  # nor where scores are no numbers
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return math.exp(-(low + high) / 2)
