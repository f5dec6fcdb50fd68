"""Where the steps of a pass stand in a picture: rows and columns from time, and back.

A picture of C columns and K channels has W = C K steps a row. Row b of a batch has read p_b steps before the pass, so
its pass begins in row r_b = p_b // W of its picture, at place o_b = p_b - r_b W, and touches the n rows from there on.
Step t reads what stands before it: x_t is the value of cell o_b + t - 1. The first one of all, <start>, is the last
cell of the row above the picture. What lies above are the last rows of the pass before (the state).

x (B, T, D) -> cells (B, up + n, C, K D) and, of features (B, n, C, K H), y (B, T, H).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class Pass:
    """One pass of `steps` steps; `begin` (B,) are the o_b, None where all are 0; `mask` has its real ones."""

    steps: int
    columns: int
    channels: int
    begin: Tensor | None
    mask: Tensor | None

    @property
    def across(self) -> int:
        """W, the steps of a row."""
        return self.columns * self.channels

    @property
    def rows(self) -> int:
        """n, the rows that any of the batch touches."""
        most = 0 if self.begin is None else int(self.begin.max())
        return -(-(most + self.steps) // self.across)

    def cells(self, x: Tensor, above: Tensor) -> Tensor:
        """The picture as far as it is known, 0 elsewhere; `above` (B, up + 1, C, K D), its last row begun."""
        up, rows, width = above.shape[1] - 1, self.rows, x.shape[2]
        first, size = up * self.across - 1, (up + rows) * self.across
        if self.begin is None and self.mask is None:
            cells = F.pad(x, (0, 0, first, size - first - self.steps))
        else:
            places = self._places(x) + first
            if self.mask is not None:
                places = torch.where(self.mask, places, size)  # one place more, which is not kept
            cells = x.new_zeros(len(x), size + 1, width).scatter(1, places[..., None].expand_as(x), x)[:, :-1]
        cells = cells.unflatten(1, (up + rows, self.columns, self.channels)).flatten(3)
        if self.begin is None:
            return cells
        return cells + F.pad(above.to(x.dtype), (0, 0, 0, 0, 0, rows - 1))

    def taken(self, features: Tensor) -> Tensor:
        """The features of the steps, from those of the rows; 0 where masked."""
        y = features.flatten(1, 2).unflatten(2, (self.channels, -1)).flatten(1, 2)
        if self.begin is None:
            y = y[:, : self.steps]
        else:
            y = y.gather(1, self._places(y)[..., None].expand(-1, -1, y.shape[2]))
        return y if self.mask is None else y.masked_fill(~self.mask[..., None], 0)

    def kept(self, region: Tensor, up: int) -> Tensor:
        """The rows that the next pass begins in, and `up` above it: of (B, up + n, ...), one that it has not is 0."""
        if self.begin is None and self.mask is None:
            first = self.steps // self.across
            found = region[:, first : first + up + 1]
            return F.pad(found, [0, 0] * (region.ndim - 2) + [0, up + 1 - found.shape[1]])
        done = self.steps if self.mask is None else self.mask.sum(1)
        first = (done if self.begin is None else self.begin + done) // self.across
        places = torch.as_tensor(first, device=region.device).view(-1, 1) + torch.arange(up + 1, device=region.device)
        region = F.pad(region, [0, 0] * (region.ndim - 2) + [0, 1])
        places = places.view(len(places), -1, *[1] * (region.ndim - 2))
        return region.gather(1, places.expand(len(region), -1, *region.shape[2:]))

    def _places(self, x: Tensor) -> Tensor:
        """o_b + t, (B, T) or (1, T)."""
        steps = torch.arange(self.steps, device=x.device)[None]
        return steps.expand(len(x), -1) if self.begin is None else self.begin[:, None] + steps


def windows(rows: Tensor, column: Tensor, up: int, reach: int) -> Tensor:
    """What stands before the pixel at each one's column, in raster order, of `up` rows above it and its own.

    rows (B, N, up + 1, C, F), the last one its own; column (B,) -> (B, N, up (2 reach + 1) + reach, F).
    """
    columns, device = rows.shape[3], rows.device
    before = torch.arange(up * (2 * reach + 1) + reach, device=device)
    across = column[:, None] + before % (2 * reach + 1) - reach
    places = before // (2 * reach + 1) * columns + across
    inside = (across >= 0) & (across < columns)
    index = places.clamp(0, (up + 1) * columns - 1)[:, None, :, None]
    found = rows.flatten(2, 3).gather(2, index.expand(-1, rows.shape[1], -1, rows.shape[4]))
    return found * inside[:, None, :, None]
