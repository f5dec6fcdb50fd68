"""A row's features -> one vector: y (B, T, H), mask (B, T) -> (B, H).

    last   y at the last real step
    mean   the mean over the real steps
    max    the greatest value of each feature over the real steps
    ends   of a bidirectional y: the forward half at the last real step, the backward half at the first
    attention   sum_t a_t y_t,  a = softmax over the real steps of v . tanh(W y_t + b)       (Yang et al. 2016)

The first three may read what is said at each step in place of features (`over: outputs`): a classifier's Y_t.
A row without a real step gives zeros.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from foresay.errors import UserError
from foresay.parts import Part, Size, part

Over = Literal["features", "outputs"]


class Pool(Part, nn.Module):
    """`build(in_width)` fixes the sizes; `forward(y, mask)` -> (B, `self.width`)."""

    part_kind = "pool"
    over: Over = "features"
    width: int

    def build(self, in_width: int) -> None:
        self.width = in_width

    def forward(self, y: Tensor, mask: Tensor | None = None) -> Tensor:
        """y (B, T, H) -> (B, H); zeros for a row without a real step."""
        if mask is None:
            mask = y.new_ones(y.shape[:2], dtype=torch.bool)
        if y.shape[1] == 0:
            return y.new_zeros(y.shape[0], self.width)
        return self.pool(y, mask).masked_fill(~mask.any(1, keepdim=True), 0)

    def pool(self, y: Tensor, mask: Tensor) -> Tensor:
        """The vector of each row; rows without a real step may hold anything."""
        raise AssertionError(f"{type(self).__name__} has no pool")


@part("pool", "last")
class Last(Pool):
    """The features at each row's last real step."""

    def __init__(self, over: Over = "features") -> None:
        super().__init__()
        self.over = over

    def pool(self, y: Tensor, mask: Tensor) -> Tensor:
        last = (mask.sum(1) - 1).clamp(min=0)
        return y[torch.arange(y.shape[0], device=y.device), last]


@part("pool", "mean")
class Mean(Pool):
    """The mean over each row's real steps."""

    def __init__(self, over: Over = "features") -> None:
        super().__init__()
        self.over = over

    def pool(self, y: Tensor, mask: Tensor) -> Tensor:
        return y.masked_fill(~mask[..., None], 0).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


@part("pool", "max")
class Max(Pool):
    """The greatest value of each feature over each row's real steps."""

    def __init__(self, over: Over = "features") -> None:
        super().__init__()
        self.over = over

    def pool(self, y: Tensor, mask: Tensor) -> Tensor:
        return y.masked_fill(~mask[..., None], float("-inf")).amax(1)


@part("pool", "ends")
class Ends(Pool):
    """Where each direction of a bidirectional encoder has read the whole row: its last and its first step."""

    def __init__(self) -> None:
        super().__init__()

    def build(self, in_width: int) -> None:
        if in_width % 2:
            raise UserError(
                f"pool ends needs features in two equal halves, not {in_width}: use a bidirectional encoder"
            )
        super().build(in_width)

    def pool(self, y: Tensor, mask: Tensor) -> Tensor:
        half, last = self.width // 2, (mask.sum(1) - 1).clamp(min=0)
        forwards = y[torch.arange(y.shape[0], device=y.device), last, :half]
        return torch.cat([forwards, y[:, 0, half:]], 1)


@part("pool", "attention")
class Attention(Pool):
    """The mean over each row's real steps, weighted by a learnt look at each."""

    def __init__(self, *, size: Size = 64) -> None:
        super().__init__()
        self.size = size

    def build(self, in_width: int) -> None:
        super().build(in_width)
        self.look = nn.Linear(in_width, self.size)
        self.score = nn.Linear(self.size, 1, bias=False)

    def pool(self, y: Tensor, mask: Tensor) -> Tensor:
        scores = self.score(self.look(y.masked_fill(~mask[..., None], 0)).tanh())[..., 0]
        a = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(1)  # not -inf: a row may have no real step
        return (a[..., None] * y.masked_fill(~mask[..., None], 0)).sum(1)
