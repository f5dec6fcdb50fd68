"""PixelCNN (van den Oord et al. 2016a): one stack of masked convolutions in residual blocks; it has a blind spot.

    x_1 = M_0 * picture + V_0 c                                           mask A
    x_{l+1} = x_l + B_l relu(M_l * relu(A_l relu(x_l)) + V_l c)           mask B
    y = relu(U relu(T relu(x_L)))

M sees `kernel` // 2 rows above and what stands left. A narrows F to F / 2 and B widens it again. Above and to the right
a pixel sees a triangle: what lies beyond it no depth makes up for (foresay claims blind-spot).

cells (B, up + n, C, K D) -> y (B, n, C, K F)
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from foresay.encode.grid import windows
from foresay.encode.masked_gated import Shape
from foresay.encode.sight import Grouped, Sight
from foresay.kernels.dropout import dropout


class ResidualRows(nn.Module):
    """The stack."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape, self.up, self.above = shape, shape.first // 2, shape.kernel // 2
        wide, narrow = shape.size * shape.channels, max(shape.size // 2, 1) * shape.channels
        self.inner, channels = (shape.layers, narrow), shape.channels
        cell = shape.ins * channels
        self.open = Sight(cell, wide, up=self.up, reach=self.up, channels=channels, mask="A")
        self.blocks = cast("list[Block]", nn.ModuleList(
            Block(wide, narrow, self.above, channels) for _ in range(shape.layers)
        ))  # fmt: skip
        self.tail, self.head = Grouped(wide, wide, channels), Grouped(wide, wide, channels)
        self.given = nn.Linear(shape.condition, wide + shape.layers * narrow, bias=False) if shape.condition else None
        for layer in (self.tail, self.head, *(block.narrow for block in self.blocks)):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        for block in self.blocks:
            nn.init.normal_(block.widen.weight, std=(narrow * shape.layers) ** -0.5)  # x does not grow with the depth

    def forward(
        self, cells: Tensor, above: Tensor | None, condition: Tensor | None
    ) -> tuple[list[Tensor], list[Tensor], dict[str, list[Tensor]]]:
        """Every layer's output, the last one y; the rows of features that go on, those above with them."""
        first, *given = self._given(condition)
        x, outputs, rows = self.open(cells), list[Tensor](), list[Tensor]()
        x = x if first is None else x + first[:, None, None]
        for level, block in enumerate(self.blocks):
            narrowed = block.narrowed(x)
            before = narrowed.new_zeros(len(x), self.above, *narrowed.shape[2:]) if above is None else above[:, level]
            rows.append(torch.cat([before[:, : self.above].to(narrowed.dtype), narrowed], 1))
            own = given[level]
            seen = block.sight(rows[-1]) if own is None else block.sight(rows[-1]) + own[:, None, None]
            x = x + self._widened(block, seen)
            outputs.append(x)
        outputs[-1] = self._headed(outputs[-1])
        return outputs, rows, {}

    def step(self, first: Tensor, above: Tensor, column: Tensor, condition: Tensor | None) -> tuple[Tensor, Tensor]:
        """One pixel: what its first convolution sees -> y (B, K F), and what its blocks narrowed it to (B, L, K I)."""
        opened, *given = self._given(condition)
        seen = windows(above, column, self.above, self.above)
        x, new = self.open.step(first), list[Tensor]()
        x = x if opened is None else x + opened
        for level, block in enumerate(self.blocks):
            new.append(block.narrowed(x))
            found = block.sight.step(torch.cat([seen[:, level].flatten(1), new[-1]], 1))
            own = given[level]
            x = x + self._widened(block, found if own is None else found + own)
        return self._headed(x), torch.stack(new, 1)

    def by_layer(self) -> list[list[nn.Module]]:
        """The modules of each layer."""
        return [[block] for block in self.blocks]

    def _given(self, condition: Tensor | None) -> list[Tensor | None]:
        """What a condition adds to the first convolution and to each block's."""
        if condition is None or self.given is None:
            return [None] * (1 + len(self.blocks))
        number, narrow = self.inner
        return list(self.given(condition).split([self.shape.size * self.shape.channels, *[narrow] * number], -1))

    def _widened(self, block: Block, seen: Tensor) -> Tensor:
        return block.widen(dropout(seen.relu(), self.shape.dropout, self.training))

    def _headed(self, x: Tensor) -> Tensor:
        return self.head(self.tail(x.relu()).relu()).relu()


class Block(nn.Module):
    """A, M and B of a layer."""

    def __init__(self, wide: int, narrow: int, above: int, channels: int) -> None:
        super().__init__()
        self.narrow, self.widen = Grouped(wide, narrow, channels), Grouped(narrow, wide, channels)
        self.sight = Sight(narrow, narrow, up=above, reach=above, channels=channels)

    def narrowed(self, x: Tensor) -> Tensor:
        return self.narrow(x.relu()).relu()
