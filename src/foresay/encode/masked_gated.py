"""Gated PixelCNN's two stacks (van den Oord et al. 2016b): one sees the rows above, one what stands left.

    v_l = N_l * u_l + V_l c                    u_0: the picture, a row down; * the whole of the rows up to its own
    g_l = M_l * h_l + L_l v_l + Z_l c          h_0: the picture; * masked, of its own row alone
    u_{l+1} = gate(v_l),  z_l = gate(g_l)      gate([a; b]) = tanh(a) * sigmoid(b)
    h_{l+1} = h_l + W_l z_l                    h_1 = W_0 z_0
    y = relu(U relu(S [z_0; ..; z_{L-1}] + s) + b)

u_l[r] depends on rows before r alone, so it is known of a whole row as soon as that begins, and a pixel costs the
second stack only. All rows above are seen, nothing of them is hidden behind a corner: there is no blind spot.
Departure: skips as WaveNet has them, where the paper leaves them open.

cells (B, up + n, C, K D) -> y (B, n, C, K F)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from foresay.encode.grid import windows
from foresay.encode.sight import Grouped, Sight
from foresay.kernels.dropout import dropout
from foresay.kernels.gate import gated


@dataclass(frozen=True)
class Shape:
    """Of a stack: D of a cell, F, L, the kernels, K, how much is dropped, the width of a condition."""

    ins: int
    size: int
    layers: int
    kernel: int
    first: int
    channels: int
    dropout: float
    condition: int


class GatedRows(nn.Module):
    """Both stacks."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape, self.up, self.above = shape, shape.first // 2, shape.kernel // 2
        cell, size, wide = shape.ins * shape.channels, shape.size, shape.size * shape.channels
        self.inner = shape.layers - 1, size  # how many rows of features the next pass must know, and their width
        channels = shape.channels
        down = [Sight(cell, 2 * size, up=self.up - 1, reach=self.up, whole=True)]
        along = [Sight(cell, 2 * wide, up=0, reach=self.up, channels=channels, mask="A", parts=2)]
        for _ in range(shape.layers - 1):
            down.append(Sight(size, 2 * size, up=self.above, reach=self.above, whole=True))
            along.append(Sight(wide, 2 * wide, up=0, reach=self.above, channels=channels, parts=2))
        self.down, self.along = cast("list[Sight]", nn.ModuleList(down)), cast("list[Sight]", nn.ModuleList(along))
        self.links = _listed(nn.Linear(2 * size, 2 * wide, bias=False) for _ in down)
        self.outs = _listed(Grouped(wide, wide, shape.channels) for _ in down[1:])
        self.skips = Grouped(shape.layers * wide, wide, shape.channels, parts=shape.layers)
        self.head = Grouped(wide, wide, shape.channels)
        self.given = (
            nn.Linear(shape.condition, shape.layers * 2 * (size + wide), bias=False) if shape.condition else None
        )
        for layer in self.outs:
            nn.init.normal_(layer.weight, std=(wide * shape.layers) ** -0.5)  # h does not grow with the depth
        for layer in (self.skips, self.head):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")

    def forward(
        self, cells: Tensor, above: Tensor | None, condition: Tensor | None
    ) -> tuple[list[Tensor], list[Tensor], dict[str, list[Tensor]]]:
        """Every layer's output, the last one y; the rows of features that go on, those above with them; and of each
        pixel what the step of one needs: h on its left, what comes down to it."""
        vertical = self._vertical(cells[:, :-1], above, condition)
        own, x, outputs = cells[:, self.up :], None, list[Tensor]()
        inner = list[Tensor]()
        for level, sight in enumerate(self.along):
            z = self._gate(sight(own if x is None else x) + vertical.links[level])
            inner.append(z)
            x = self._onward(level, x, z)
            outputs.append(x)
        outputs[-1] = self._headed(inner)
        return outputs, vertical.rows, {"left": outputs[:-1], "down": vertical.links}

    def begin_row(self, cells: Tensor, above: Tensor, condition: Tensor | None) -> tuple[Tensor, Tensor]:
        """A new row, of the picture above it (B, up, C, K D) and the features above: its own features (B, L - 1, C, F)
        and what comes down to its pixels (B, L, C, 2 K F)."""
        vertical = self._vertical(cells, above, condition)
        rows = [region[:, -1] for region in vertical.rows]
        links = torch.stack([link[:, -1] for link in vertical.links], 1)
        return torch.stack(rows, 1) if rows else above[:, :, -1], links

    def step(self, first: Tensor, state: dict[str, Tensor], column: Tensor) -> tuple[Tensor, Tensor | None]:
        """One pixel: what its first convolution sees -> y (B, K F), and h of all but the last layer (B, L - 1, K F)."""
        levels, rows = len(self.along), torch.arange(len(first), device=first.device)
        down = state["down"][rows, :, column]
        left = windows(state["left"][:, :, None], column, 0, self.above) if levels > 1 else None
        x, inner, passed = None, list[Tensor](), list[Tensor]()
        for level, sight in enumerate(self.along):
            seen = first if x is None or left is None else torch.cat([left[:, level - 1].flatten(1), x], 1)
            z = self._gate(sight.step(seen) + down[:, level])
            inner.append(z)
            if level < levels - 1:
                x = self._onward(level, x, z)
                passed.append(x)
        return self._headed(inner), torch.stack(passed, 1) if passed else None

    def by_layer(self) -> list[list[nn.Module]]:
        """The modules of each layer."""
        found: list[list[nn.Module]] = [list(one) for one in zip(self.down, self.along, self.links, strict=True)]
        for layer, out in zip(found, self.outs, strict=False):
            layer.append(out)
        return found

    def _vertical(self, cells: Tensor, above: Tensor | None, condition: Tensor | None) -> _Vertical:
        """The stack that sees rows above, of the picture a row down."""
        given = [None] * len(self.down) if condition is None else self._given(condition)
        u, rows, links = cells, list[Tensor](), list[Tensor]()
        for level, (sight, link) in enumerate(zip(self.down, self.links, strict=True)):
            v, own = sight(u), given[level]
            v = v if own is None else v + own[0]
            come = link(v)
            links.append(come if own is None else come + own[1])
            if level < len(self.down) - 1:
                new = self._gate(v)
                before = new.new_zeros(len(new), self.above, *new.shape[2:]) if above is None else above[:, level]
                u = torch.cat([before[:, : self.above].to(new.dtype), new], 1)
                rows.append(u)
        return _Vertical(rows, links)

    def _given(self, condition: Tensor) -> list[tuple[Tensor, Tensor]]:
        """What a condition adds to both stacks, for each layer."""
        assert self.given is not None
        own, wide = 2 * self.shape.size, 2 * self.shape.size * self.shape.channels
        parts = self.given(condition)[:, None, None].split([own, wide] * len(self.down), -1)
        return list(zip(parts[::2], parts[1::2], strict=True))

    def _gate(self, x: Tensor) -> Tensor:
        return dropout(gated(x), self.shape.dropout, self.training)

    def _onward(self, level: int, x: Tensor | None, z: Tensor) -> Tensor:
        if level == len(self.along) - 1:
            return z
        return self.outs[level](z) if x is None else x + self.outs[level](z)

    def _headed(self, inner: Sequence[Tensor]) -> Tensor:
        return self.head(self.skips(torch.cat(list(inner), -1)).relu()).relu()


@dataclass(frozen=True)
class _Vertical:
    """The rows of features, those above with them, and what comes down to each pixel."""

    rows: list[Tensor]
    links: list[Tensor]


def _listed(modules: object) -> list[nn.Linear]:
    return cast("list[nn.Linear]", nn.ModuleList(modules))  # pyright: ignore[reportArgumentType]
