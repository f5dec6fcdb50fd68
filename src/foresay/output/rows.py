"""A row of weights for each symbol: log P(v | h) = s_v - log sum_u exp s_u, s = W h + b.

What every output layer without a tree has in common; they differ in the loss that trains it. With `tied` the rows of W
are the embedding's own vectors; when their width D is not the features' width H, a product without bias comes first:
h -> P h. W and P of its own begin uniform in [-bound, bound], 1/sqrt(H) unless given; b begins at 0, or (`begin`) at
the log of the symbols' shares of the training text, so that the first steps need not teach it what is frequent.

features (..., H) -> log_probs (..., V).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.errors import UserError
from foresay.kernels.linear_cross_entropy import row_chunks
from foresay.kernels.switch import plain
from foresay.kernels.taken import taken
from foresay.kernels.thin import product
from foresay.output.output import Output
from foresay.parts import Rate

Begin = Literal["zero", "shares"]


class Rows(Output):
    """The exact distribution, with rows tied to the embedding or their own; a subclass has the loss."""

    def __init__(self, *, tied: bool = False, bias: bool = True, bound: Rate | None = None, begin: Begin = "zero"):
        super().__init__()
        if begin == "shares" and not bias:
            raise UserError("output.begin=shares is where biases begin, and bias=false; leave one of them out")
        self.tied, self.has_bias, self.bound = tied, bias, bound
        self.wants_counts = begin == "shares"
        self.project: nn.Linear | None = None

    def build(self, in_width: int, vocabulary: int, table: nn.Parameter | None = None) -> None:
        bound = self.bound or in_width**-0.5
        if self.tied:
            self.weight = self._shared(vocabulary, table)
            if self.weight.shape[1] != in_width:
                self.project = nn.Linear(in_width, self.weight.shape[1], bias=False)
                if self.bound is not None:
                    nn.init.uniform_(self.project.weight, -bound, bound)
        else:
            self.weight = nn.Parameter(torch.empty(vocabulary, in_width).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(vocabulary)) if self.has_bias else None

    def _shared(self, vocabulary: int, table: nn.Parameter | None) -> nn.Parameter:
        """The embedding's table, saved once: by the embedding, not here."""
        if table is None:
            raise UserError("tied=True needs an embedding with a table: use the lookup embedding or tied=False")
        if len(table) != vocabulary:
            raise UserError(f"tied=True: the table has {len(table)} rows, the vocabulary {vocabulary}; use tied=False")
        self.register_state_dict_post_hook(_leave_out)
        self.register_load_state_dict_pre_hook(_fill_in)
        return table

    def learn_counts(self, counts: np.ndarray) -> None:
        if self.bias is not None:
            with torch.no_grad():
                self.bias.copy_(torch.from_numpy(log_shares(counts)))

    def log_prob(self, features: Tensor, targets: Tensor) -> Tensor:
        h = self.inner(features).flatten(0, -2)
        found = [h.new_zeros(0)]
        for rows in row_chunks(len(h), len(self.weight), h.device):
            logits = self.logits(h[rows])
            hit = logits.gather(1, targets.flatten()[rows, None])[:, 0]
            found.append(hit - logits.logsumexp(1))
        return torch.cat(found).view(targets.shape)

    def log_probs(self, features: Tensor) -> Tensor:
        return log_softmax(self.raw(self.inner(features)))

    def inner(self, features: Tensor) -> Tensor:
        """What meets the rows: (..., H) -> (..., D)."""
        return features if self.project is None else self.project(features)

    def logits(self, h: Tensor) -> Tensor:
        """s of all symbols, (..., D) -> (..., V)."""
        return full(self.raw(h))

    def raw(self, h: Tensor) -> Tensor:
        """s as it comes, in half precision perhaps."""
        return product(h, self.weight, self.bias)

    def score_own(self, h: Tensor, ids: Tensor) -> Tensor:
        """s of one symbol for each row, (N, D), (N,) -> (N,)."""
        found = full((h * taken(self.weight, ids)).sum(1))
        return found if self.bias is None else found + taken(self.bias, ids)

    def score_shared(self, h: Tensor, ids: Tensor) -> Tensor:
        """s of the same symbols for every row, (N, D), (S,) -> (N, S)."""
        return full(F.linear(h, taken(self.weight, ids), None if self.bias is None else taken(self.bias, ids)))


def log_shares(counts: np.ndarray) -> np.ndarray:
    """The log of each symbol's share of a text, one more counted of each."""
    return np.log((counts + 1.0) / (counts + 1.0).sum())


def log_softmax(logits: Tensor) -> Tensor:
    """Over the last dimension, at least in float32."""
    half = logits.dtype in (torch.bfloat16, torch.float16)
    if not half or not logits.is_cuda or logits.ndim != 2 or torch.is_grad_enabled() or plain():
        return full(logits).log_softmax(-1)
    from foresay.kernels import choose_triton  # there is no Triton without a GPU

    return choose_triton.log_softmax(logits)


def full(x: Tensor) -> Tensor:
    """At least float32."""
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x


def mean_over(losses: Tensor, mask: Tensor | None) -> Tensor:
    """The mean of the losses (N,) that the mask keeps; 0 when it keeps none."""
    if mask is None:
        return losses.sum() / max(len(losses), 1)
    kept = mask.flatten()
    return losses.masked_fill(~kept, 0.0).sum() / kept.sum().clamp(min=1)


def _leave_out(_: nn.Module, state: dict[str, Any], prefix: str, __: Any) -> None:
    state.pop(prefix + "weight", None)


def _fill_in(module: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    """A tied weight is not in the file; loading it from itself changes nothing and misses nothing."""
    state[prefix + "weight"] = module.weight.detach()  # pyright: ignore[reportCallIssue]
