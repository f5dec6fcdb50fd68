"""A ConvNet over the words of a text (Kim 2014): kernels of several widths, ReLU; `pool: max` takes the best place.

    y_t = [relu(sum_o x_{t+o} K^w_o + b^w) for each width w],   o from -(w-1)//2 to w//2

A kernel has w words around its place in it. Zeros stand before the beginning and after the end of a row and of a
document. All products are one: x times every K at once, then added up at shifted places.

x (B, T, D) -> y (B, T, H), H the number of all kernels, zero where masked; state {"position": (B,)}.
"""

from __future__ import annotations

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.encode.encoder import Encoder, State, advance
from foresay.errors import UserError
from foresay.kernels.dropout import dropout
from foresay.kernels.thin import product
from foresay.parts import Share, part

KIM = [[3, 100], [4, 100], [5, 100]]


@part("encoder", "convolution")
class Convolution(Encoder):
    """Kernels over neighbouring words, several widths side by side: the ConvNet for texts."""

    causal = False

    def __init__(self, *, kernels: list[list[int]] = KIM, dropout: Share = 0.0) -> None:  # [width, how many], ...
        super().__init__()
        self.kernels, self.dropout = kernels, dropout
        if not kernels or any(len(one) != 2 or min(one) < 1 for one in kernels):
            raise UserError(
                f"encoder.kernels={kernels}; allowed: pairs [width, how many], such as [[3, 100], [4, 100]]"
            )
        self.width = sum(count for _, count in kernels)

    def build(self, in_width: int) -> None:
        self.taps = cast(
            "list[nn.Linear]",
            nn.ModuleList(nn.Linear(in_width, width * count, bias=False) for width, count in self.kernels),
        )
        self.bias = nn.Parameter(torch.zeros(self.width))
        for (width, _), tap in zip(self.kernels, self.taps, strict=True):
            nn.init.normal_(tap.weight, std=(2 / (width * in_width)) ** 0.5)  # made for ReLU: He et al. 2015

    def begin(self, rows: int, capacity: int | None = None) -> State:
        return {"position": torch.zeros(rows, dtype=torch.long, device=self.bias.device)}

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        state: State | None = None,
        *,
        starts: Tensor | None = None,
        condition: Tensor | None = None,
    ) -> tuple[Tensor, State]:
        self.admit(state, condition, rows=len(x))
        if mask is not None:
            x = x.masked_fill(~mask[..., None], 0)
        document = None if starts is None else starts.cumsum(1)
        shares = product(x, torch.cat([tap.weight for tap in self.taps]), None).split(
            [width * count for width, count in self.kernels], 2
        )
        found = [self._added(one, w, n, document) for one, (w, n) in zip(shares, self.kernels, strict=True)]
        y = dropout((torch.cat(found, 2) + self.bias).relu(), self.dropout, self.training)
        if mask is not None:
            y = y.masked_fill(~mask[..., None], 0)
        position = torch.zeros(len(x), dtype=torch.long, device=x.device)
        return y, {"position": advance(position, x.shape[1], mask)}

    def _added(self, shares: Tensor, width: int, count: int, document: Tensor | None) -> Tensor:
        """The products (B, T, width * count) of a kernel's words, each added where it is seen from: (B, T, count)."""
        before = (width - 1) // 2
        steps, wide = shares.shape[1], F.pad(shares, (0, 0, before, width - 1 - before))
        found = shares.new_zeros(())
        for tap in range(width):
            one = wide[:, tap : tap + steps, tap * count : (tap + 1) * count]
            if document is not None and tap != before:
                there = F.pad(document, (before, width - 1 - before), value=-1)[:, tap : tap + steps]
                one = one.masked_fill((there != document)[..., None], 0)
            found = found + one
        return found
