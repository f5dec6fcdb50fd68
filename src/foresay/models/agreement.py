"""Agreement of two passes: what dropout changes should change the answer little (R-Drop, Liang et al. 2021).

Every text of a batch is read twice, with masks of its own each time, which gives P and Q:

    loss = (-log P(w) - log Q(w)) / 2 + agreement * (KL(P || Q) + KL(Q || P)) / 2
    (KL(P || Q) + KL(Q || P)) / 2 = sum_v (P(v) - Q(v)) (log P(v) - log Q(v)) / 2

Their paper's alpha, beside the sum of both losses, is twice this `agreement`. A step costs about two.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from foresay.data.batch import PER_ROW, Batch
from foresay.output.rows import full


def twice(batch: Batch) -> Batch:
    """Every row, and after all of them every row again."""
    rows = {name: getattr(batch, name) for name in PER_ROW}
    return replace(batch, **{name: torch.cat([field, field]) for name, field in rows.items() if field is not None})


def apart(log_probs: Tensor) -> Tensor:
    """How far the two passes differ in every place: log P (2 B, ..., V) -> (B, ...)"""
    one, other = full(log_probs).chunk(2)
    return ((one.exp() - other.exp()) * (one - other)).sum(-1) / 2


def apart_each(scores: Tensor) -> Tensor:
    """The same of labels that each have a probability of their own: scores (2 B, C) -> (B,)"""
    one, other = full(scores).chunk(2)
    return ((one.sigmoid() - other.sigmoid()) * (one - other)).sum(-1) / 2
