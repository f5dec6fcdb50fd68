"""What a pixel may see: convolutions that hold only the weights of what has come before.

    y[r, c] = b + sum_{i, j} W_ij x[r + i, c + j]     i = -up .. 0, j = -reach .. reach; in its own row j < 0, and j = 0
                                                      where it may see of its own pixel; all j where it is `whole`, for
                                                      an x that is known of a whole row at once

A pixel has K channels, one after the other, and its numbers are K groups side by side. Of its own pixel a group sees
the groups before it (mask A, of the picture itself), or these and itself (mask B, of features that follow from them):
red before green before blue. Zeros stand left and right of the picture.

x (B, up + R, C, I), `up` rows above the first -> y (B, R, C, O).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.kernels.thin import product

Mask = Literal["A", "B"]


class Shown:
    """Weights with some hidden: worked out for every pass with gradients, else once until they change.

    A graph on a GPU changes weights and does not count it: there they are worked out every time.
    """

    def __init__(self) -> None:
        self.weight: Tensor | None = None  # the first is held, so that no other can come to lie in its place
        self.kept: Tensor | None = None
        self.key: tuple[object, ...] = ()

    def __call__(self, weight: Tensor, show: Callable[[Tensor], Tensor]) -> Tensor:
        if torch.is_grad_enabled() or weight.device.type != "cpu" or weight.is_inference():
            return show(weight)
        key = (weight.data_ptr(), weight._version, weight.dtype)
        if self.kept is None or self.weight is not weight or self.key != key:
            self.weight, self.key, self.kept = weight, key, show(weight)
        return self.kept


class Sight(nn.Module):
    """One convolution; `weight` (O, taps, I) in raster order, the own pixel last. `parts` as of `sees`."""

    own: Tensor | None  # what is seen of the own pixel, (O, I); None: all

    def __init__(
        self, ins: int, outs: int, *, up: int, reach: int, channels: int = 1, mask: Mask = "B", whole: bool = False,
        parts: int = 1,
    ) -> None:  # fmt: skip
        super().__init__()
        self.up, self.reach, self.whole = up, reach, whole
        self.sees_own = whole or mask == "B" or channels > 1
        across = 2 * reach + 1
        taps = (up + 1) * across if whole else up * across + reach + self.sees_own
        self.weight = nn.Parameter(torch.empty(outs, taps, ins))
        self.bias = nn.Parameter(torch.zeros(outs))
        nn.init.xavier_uniform_(self.weight.flatten(1))
        hides = channels > 1 and not whole
        self.register_buffer("own", sees(outs, ins, channels, mask, parts) if hides else None, persistent=False)
        self.shown = Shown()

    def forward(self, x: Tensor) -> Tensor:
        """All pixels of some rows at once."""
        left = self.reach
        right = left if self.up or self.whole else 0 if self.sees_own else -1
        across, kernel = left + right + 1, self._shown()
        kernel = F.pad(kernel, (0, 0, 0, (self.up + 1) * across - kernel.shape[1]))
        kernel = kernel.unflatten(1, (self.up + 1, across)).permute(0, 3, 1, 2)
        x = F.pad(x, (0, 0, left, right)).permute(
            0, 3, 1, 2
        )  # it stays as it lies, which is what the loops are made for
        return F.conv2d(x, kernel, self.bias).permute(0, 2, 3, 1)

    def step(self, seen: Tensor) -> Tensor:
        """One pixel, of all that it sees: (B, taps I) -> (B, O)."""
        return product(seen, self._shown().flatten(1), self.bias)

    def _shown(self) -> Tensor:
        """The weights, 0 where the own pixel is not seen."""
        own = self.own
        if own is None:
            return self.weight
        return self.shown(self.weight, lambda weight: torch.cat([weight[:, :-1], (weight[:, -1] * own)[:, None]], 1))


class Grouped(nn.Linear):
    """y = W x + b of every pixel; a group sees those before it and itself. `parts`: so many x stand side by side."""

    sight: Tensor | None

    def __init__(self, ins: int, outs: int, channels: int, *, parts: int = 1) -> None:
        super().__init__(ins, outs)
        nn.init.zeros_(self.bias)
        seen = sees(outs, ins, channels, "B", 1, parts) if channels > 1 else None
        self.register_buffer("sight", seen, persistent=False)
        self.shown = Shown()

    def forward(self, input: Tensor) -> Tensor:
        sight = self.sight
        shown = self.weight if sight is None else self.shown(self.weight, lambda weight: weight * sight)
        return product(input, shown, self.bias)


def sees(outs: int, ins: int, channels: int, mask: Mask, out_parts: int = 1, in_parts: int = 1) -> Tensor:
    """Which numbers of its own pixel each of `outs` sees, 1 or 0: (O, I).

    Both are so many parts side by side (the halves of a gate, the skips of all layers), each of K equal groups.
    """
    of_out, of_in = _groups(outs // out_parts, out_parts, channels), _groups(ins // in_parts, in_parts, channels)
    return (of_out[:, None] > of_in if mask == "A" else of_out[:, None] >= of_in).float()


def _groups(width: int, parts: int, channels: int) -> Tensor:
    """The group of each number."""
    return (torch.arange(width) * channels // width).repeat(parts)
