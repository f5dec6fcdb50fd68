"""The temperature of a classifier, fitted on held-out texts after training (Guo et al. 2017).

    t = argmin_t mean_n -log P(label_n | z_n / t)

In 1 / t the loss is convex: its slope, the mean of (P - label) . z, has one zero, which is searched by halving.
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

HOTTEST = 100.0  # where every answer is right, or wrong, there is no best temperature: the search ends here
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
    low, high = -math.log(HOTTEST), math.log(HOTTEST)  # of log(1 / t)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        scaled = z * math.exp(middle)
        p = scaled.sigmoid() if several else scaled.softmax(1)
        low, high = (low, middle) if float(torch.sum((p - labels) * z)) > 0 else (middle, high)
    return math.exp(-(low + high) / 2)
