"""How the layers of a stack are joined: what each sees of those below, and what becomes of its output.

    none       z_l = y_l                                             y_l = layer_l(z_{l-1}),  z_0 = x
    residual   z_l = y_l + z_{l-1}       (W z_{l-1} where the widths differ)
    highway    z_l = t * y_l + (1 - t) * z_{l-1},  t = sigmoid(z_{l-1} W_t + b_t)       (W z_{l-1} likewise)
    skip       y_l = layer_l([z_{l-1}; x])                           every layer sees the input
    dense      y_l = layer_l([z_{l-1}; ...; z_1; x])                 every layer sees all below it
    fed        y_l = layer_l(z_{l-1} + z_{l-2})       (W z_{l-2} likewise): ELMo's second layer is fed h_1 + W x

b_t begins at -1: a new highway lets most of its input pass (Srivastava et al. 2015).

z (B, T, width), zero where masked.
"""

from __future__ import annotations

from typing import Literal, cast

import torch
from torch import Tensor, nn

from foresay.errors import UserError
from foresay.kernels.thin import linear

Kind = Literal["none", "residual", "skip", "dense", "highway", "fed"]


class Wiring(nn.Module):
    """`add` each layer in turn while building; then `enter` and `leave` it."""

    def __init__(self, kind: Kind, layers: int) -> None:
        super().__init__()
        if kind in ("skip", "dense", "fed") and layers == 1:
            raise UserError(f"wiring={kind} joins layers and there is one: pass layers=2 or more, or wiring=none")
        self.kind: Kind = kind
        self.layers = layers
        self.passes = cast("list[nn.Module]", nn.ModuleList())
        self.gates = cast("list[nn.Linear]", nn.ModuleList())

    def build(self, in_width: int) -> None:
        self.widths = [in_width]

    @property
    def in_width(self) -> int:
        """How wide the input of the next layer is."""
        below = self.widths
        if self.kind == "dense":
            return sum(below)
        return below[-1] + below[0] if self.kind == "skip" and len(below) > 1 else below[-1]

    def add(self, width: int) -> None:
        """The next layer's output is this wide."""
        below = self.widths[-1]
        self.widths.append(width)
        last = len(self.widths) > self.layers  # nothing is fed by it
        if self.kind in ("residual", "highway") or (self.kind == "fed" and not last):
            self.passes.append(nn.Identity() if below == width else nn.Linear(below, width, bias=False))
        if self.kind == "highway":
            self.gates.append(nn.Linear(below, width))
            nn.init.constant_(self.gates[-1].bias, -1.0)

    def enter(self, seen: list[Tensor]) -> Tensor:
        """x, z_1, ... -> the next layer's input."""
        if self.kind == "dense":
            return torch.cat(seen[::-1], 2)
        if self.kind == "fed" and len(seen) > 1:
            return seen[-1] + self.passes[len(seen) - 2](seen[-2])
        return torch.cat([seen[-1], seen[0]], 2) if self.kind == "skip" and len(seen) > 1 else seen[-1]

    def leave(self, layer: int, below: Tensor, y: Tensor, mask: Tensor | None) -> Tensor:
        """A layer's input and output -> z."""
        if self.kind not in ("residual", "highway"):
            return y
        passed = self.passes[layer](below)
        if self.kind == "highway":
            passed = torch.lerp(passed, y, linear(self.gates[layer], below).sigmoid())
        else:
            passed = y + passed
        return passed if mask is None else passed.masked_fill(~mask[:, :, None], 0)
