"""How often gates and activations stand at their ends, where they pass no gradient: shares of steps, unit by unit.

    a gate in [0, 1]          closed  v < 0.1       open  v > 0.9
    a value in [-1, 1]        low     v < -0.9      high  v > 0.9
    a value in [0, oo)        zero    v = 0, as ReLU has it

Which of these a value is, is found by pushing its cell with inputs a thousand times too large, not read off its name:
so it holds for cells of one's own. What has no bounds cannot be at one.

The spread of a value is the share of it in each of 40 pieces of equal width: of a gate from 0 to 1, of a value from -1
to 1, of one without an upper end from 0 to the greatest there is.

v (B, T, H) -> shares (H,), spread (40,).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from foresay.encode.cells.cell import Cell

Ends = Literal["gate", "value", "positive"]
PUSH = 1000.0
NEAR = 0.1  # of an end
PIECES = 40
ENDS = {"gate": ("closed", "open"), "value": ("low", "high"), "positive": ("zero", "")}


@dataclass(frozen=True)
class Saturated:
    """Of one named value: which ends it has, of every unit the share of steps at the lower and the upper one, and how
    all of it spreads from `low` to `high`."""

    ends: Ends
    lower: Tensor
    upper: Tensor
    spread: Tensor
    low: float
    high: float

    def as_dict(self) -> dict[str, object]:
        low, high = ENDS[self.ends]
        found: dict[str, object] = {"kind": self.ends, low: float(self.lower.mean())}
        units: dict[str, object] = {low: self.lower.tolist()}
        if high:
            found[high], units[high] = float(self.upper.mean()), self.upper.tolist()
        spread = {"from": self.low, "to": self.high, "shares": self.spread.tolist()}
        return found | {"units": units, "spread": spread}


@torch.no_grad()
def ends_of(cell: Cell, steps: int = 16) -> dict[str, Ends]:
    """The named values of a built cell that have ends; the rest is not named."""
    chance = torch.Generator().manual_seed(1)
    weight = next(cell.parameters())
    x = PUSH * torch.randn(8, steps, cell.maths.widths["x:x"], generator=chance).to(weight)
    was = cell.training
    found = cell.eval().trace(x, cell.begin(x))[0]
    cell.train(was)
    kinds: dict[str, Ends] = {}
    for name, value in found.items():
        told = value[value.isfinite()]
        low, high = (float(told.min()), float(told.max())) if len(told) else (-math.inf, math.inf)
        if low >= 0:
            kinds[name] = "gate" if high <= 1 else "positive"
        elif low >= -1 and high <= 1:
            kinds[name] = "value"
    return kinds


def saturated(value: Tensor, ends: Ends, mask: Tensor | None = None) -> Saturated:
    """Shares over the real steps of a value (B, T, H)."""
    v = value.flatten(0, 1) if mask is None else value[mask]
    low = {"gate": v < NEAR, "value": v < NEAR - 1, "positive": v == 0}[ends]
    high = v > 1 - NEAR if ends != "positive" else torch.zeros_like(low)
    least = -1.0 if ends == "value" else 0.0
    most = 1.0 if ends != "positive" else max(float(v.max()), 1e-9)
    piece = ((v.double() - least) / (most - least) * PIECES).long().clamp(0, PIECES - 1)
    spread = torch.bincount(piece.flatten(), minlength=PIECES).double() / v.numel()
    return Saturated(ends, low.double().mean(0), high.double().mean(0), spread, least, most)
