"""How well a state s of the writer fits an annotation a of the source: e = f(s, a), then a softmax over the source.

    additive   e = v' tanh(W s + U a + b)         (Bahdanau et al. 2015)
    dot        e = s' a                           s and a of one width
    bilinear   e = s' W a                         (Luong et al. 2015)

What depends on the source alone (U a + b, a, W a) is found once: `keys`.

s (B, H), keys (B, S, K) -> e (B, S)
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from foresay.errors import UserError
from foresay.kernels.thin import linear

Kind = Literal["additive", "dot", "bilinear"]


class Scorer(nn.Module):
    """f of one kind, for states of width H and annotations of width A."""

    def __init__(self, kind: Kind, state: int, annotation: int):
        super().__init__()
        if kind == "dot" and state != annotation:
            raise UserError(
                f"writer.scorer=dot multiplies a state of {state} with an annotation of {annotation}; allowed: equal "
                "widths: set writer.size to the encoder's, or scorer=bilinear"
            )
        self.kind: Kind = kind
        self.source = None if kind == "dot" else nn.Linear(annotation, state, bias=kind == "additive")
        self.state = nn.Linear(state, state, bias=False) if kind == "additive" else None
        self.weigh = nn.Linear(state, 1, bias=False) if kind == "additive" else None

    def keys(self, annotations: Tensor) -> Tensor:
        return annotations if self.source is None else linear(self.source, annotations)

    def forward(self, s: Tensor, keys: Tensor) -> Tensor:
        if self.state is None or self.weigh is None:
            return torch.bmm(keys, s[:, :, None])[:, :, 0]
        return self.weigh((linear(self.state, s)[:, None] + keys).tanh())[:, :, 0]


def weigh(scores: Tensor, seen: Tensor) -> Tensor:
    """alpha = softmax over what is seen, 0 elsewhere; (B, S), (B, S) -> (B, S)"""
    return scores.masked_fill(~seen, torch.finfo(scores.dtype).min).softmax(-1).masked_fill(~seen, 0)
