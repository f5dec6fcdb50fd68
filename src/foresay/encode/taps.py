"""A dilated convolution over time, for whole rows or one step at a time from a queue of what it saw.

    y_t = sum_j W_j x_{t - (k-1-j) d} + b         j = 0 .. k-1, d the dilation; W_{k-1} meets x_t itself
    y_t = sum_j W_j x_{t + (j - (k-1)//2) d} + b  where both sides are seen

Zeros stand before the beginning and after the end of a row and of a document. All taps are one product, of the shifted
x side by side. What has come before a pass are the last (k-1) d inputs, in their order (`past`); where a text is
written step by step they stand in a ring instead, step s at place s mod (k-1) d, and the oldest is written over.

x (B, T, D) -> y (B, T, H); past and ring (B, (k-1) d, D).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.kernels.switch import in_file
from foresay.kernels.thin import product


class Taps(nn.Module):
    """One convolution."""

    def __init__(self, in_width: int, width: int, kernel: int, dilation: int, *, causal: bool) -> None:
        super().__init__()
        self.kernel, self.dilation, self.causal = kernel, dilation, causal
        first = -(kernel - 1) if causal else -((kernel - 1) // 2)
        self.offsets = [(first + j) * dilation for j in range(kernel)]
        self.span = (kernel - 1) * dilation
        self.weight = nn.Parameter(torch.empty(width, kernel * in_width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor, past: Tensor | None = None, document: Tensor | None = None) -> Tensor:
        """All steps of a pass; `document` (B, T) numbers each step's document, 0 the one that goes on from `past`."""
        seen = [self._shifted(x, past, offset) for offset in self.offsets]
        if document is not None:
            for j, offset in enumerate(self.offsets):
                if offset:
                    seen[j] = seen[j].masked_fill(
                        (moved(document, offset, 0 if self.causal else -1) != document)[..., None], 0
                    )
        return product(torch.cat(seen, -1), self.weight, self.bias)

    def _shifted(self, x: Tensor, past: Tensor | None, offset: int) -> Tensor:
        """At every t what stands at t + offset: (B, T, D)."""
        if past is None or offset >= 0:
            return moved(x, offset)
        steps = x.shape[1]
        if in_file():
            return torch.cat([past, x], 1).narrow(1, self.span + offset, steps)
        before = past[:, self.span + offset : self.span + offset + steps]
        return before if before.shape[1] == steps else torch.cat([before, x[:, : steps + offset]], 1)

    def last(self, x: Tensor, past: Tensor | None, mask: Tensor | None, document: Tensor | None) -> Tensor:
        """The inputs that the steps after this pass see: up to each row's last real one, 0 of earlier documents."""
        steps, span = x.shape[1], self.span
        if mask is None and document is None:
            if in_file() and past is not None:
                return torch.cat([past, x], 1)[:, steps:]
            if steps >= span:
                return x[:, steps - span :]
            return F.pad(x, (0, 0, span - steps, 0)) if past is None else torch.cat([past[:, steps:], x], 1)
        joined = F.pad(x, (0, 0, span, 0)) if past is None else torch.cat([past, x], 1)
        ends = torch.full((x.shape[0], 1), steps, device=x.device) if mask is None else mask.sum(1, keepdim=True)
        index = ends + torch.arange(span, device=x.device)
        last = joined.gather(1, index[..., None].expand(-1, -1, x.shape[2]))
        if document is None:
            return last
        of = F.pad(document, (span, 0)).gather(1, index)
        return last.masked_fill((of != document[:, -1:])[..., None], 0)

    def step(self, x: Tensor, seen: Tensor) -> Tensor:
        """One step x (B, D) after what it sees of the steps before, the oldest first (B, (k-1) D)."""
        return product(torch.cat([seen, x], -1), self.weight, self.bias)


def moved(x: Tensor, offset: int, fill: int = 0) -> Tensor:
    """At every t what stands at t + offset, `fill` beyond both ends: x (B, T, ...)."""
    steps = x.shape[1]
    if offset == 0 or steps == 0:
        return x
    if in_file():
        wide = F.pad(x, [0, 0] * (x.ndim - 2) + [max(-offset, 0), max(offset, 0)], value=fill)
        return wide.narrow(1, max(offset, 0), steps)
    gap = [min(abs(offset), steps), 0] if offset < 0 else [0, min(offset, steps)]
    kept = x[:, : max(steps + offset, 0)] if offset < 0 else x[:, min(offset, steps) :]
    return F.pad(kept, [0, 0] * (x.ndim - 2) + gap, value=fill)


def ring_of(past: Tensor, position: Tensor) -> Tensor:
    """What came before `position` (B,) from its order into a ring."""
    return _turned(past, -position)


def past_of(ring: Tensor, position: Tensor) -> Tensor:
    """What came before `position` (B,) from a ring into its order."""
    return _turned(ring, position)


def _turned(x: Tensor, by: Tensor) -> Tensor:
    """Each row from place `by` on, around its end."""
    span = x.shape[1]
    places = (torch.arange(span, device=x.device) + by[:, None]) % span
    return x.gather(1, places[..., None].expand_as(x))


class Rings:
    """Where the rings of several convolutions of one kernel and width stand side by side, and how they go on by a step.

    The steps that all of them see are read at once before the first one computes, and written at once after the last.
    """

    def __init__(self, taps: Sequence[Taps], like: Tensor) -> None:
        each = [(begin, tap) for begin, tap in zip(accumulate([0, *(tap.span for tap in taps)]), taps, strict=False)]
        found = [
            (-back * tap.dilation, tap.span, begin) for begin, tap in each for back in range(tap.kernel - 1, 0, -1)
        ]
        self.before, self.spans, self.begins = torch.tensor(found, device=like.device).unbind(1)
        self.number = len(taps)

    def read(self, rings: Tensor, position: Tensor) -> tuple[Tensor, Tensor]:
        """What each convolution sees, (B, C, k-1, D), the oldest first, and the place of that (B, C)."""
        places = (position[:, None] + self.before) % self.spans + self.begins
        seen = rings.gather(1, places[..., None].expand(-1, -1, rings.shape[2]))
        return seen.unflatten(1, (self.number, -1)), places.unflatten(1, (self.number, -1))[:, :, 0]

    def write(self, rings: Tensor, places: Tensor, new: Tensor) -> None:
        """What each was given, (B, C, D), in the place of the oldest."""
        rings.scatter_(1, places[..., None].expand_as(new), new.to(rings.dtype))
