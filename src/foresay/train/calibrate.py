"""The temperature of a classifier, fitted on held-out texts after training (Guo et al. 2017).

    t = argmin_t mean_n -log P(label_n | z_n / t)

In 1 / t the loss is convex: its slope, the sum of (P - label) . z, has one zero, which is searched by halving. Where
every answer is right, or most are wrong, there is none: the temperature stays 1.
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


def calibrate(model: Labelling, batches: Batches, shards: Shards) -> float:
    """Fits the model's temperature on texts and keeps it with the weights."""
    z, labels, _ = scores_of(model, batches, shards)
    several = model.labels.several
    found = best_temperature(z, labels.double() if several else F.one_hot(labels, z.shape[1]).double(), several)
    model.get_buffer("temperature").fill_(found)
    return found


def best_temperature(z: Tensor, labels: Tensor, several: bool = False) -> float:
    """The temperature under which labels (N, C) of 0 and 1 are most probable, given scores z (N, C)."""

    def slope(log_inverse: float) -> float:
        scaled = z * math.exp(log_inverse)
        p = scaled.sigmoid() if several else scaled.softmax(1)
        return float(torch.sum((p - labels) * z))

    low, high = -math.log(HOTTEST), math.log(HOTTEST)
    right = ((z > 0) == (labels > 0)).all() if several else (z.argmax(1) == labels.argmax(1)).all()
    if right or slope(low) > 0:
        return 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return math.exp(-(low + high) / 2)
