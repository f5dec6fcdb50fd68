"""Encoders of any kind one above the other: y^0 = x, y^l = encoder_l(y^{l-1}).

x (B, T, D) -> y (B, T, H of the last); state {"position": (B,), "0": the first one's state, "1": ...}.
Causal when all of them are.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from foresay.encode.encoder import Encoder, State, advance
from foresay.parts import anew, part


@part("encoder", "stack")
class Stack(Encoder):
    """Encoders of any kind one above the other."""

    def __init__(self, *, layers: list[Encoder]) -> None:
        super().__init__()
        self.parts = cast("list[Encoder]", nn.ModuleList(anew(layer) for layer in layers))
        self.causal = all(layer.causal for layer in self.parts)
        self.halves = self.parts[-1].halves
        self.longest = min((layer.longest for layer in self.parts if layer.longest is not None), default=None)
        self.grows = any(layer.grows for layer in self.parts)

    @property
    def sees_both_sides(self) -> bool:
        return any(layer.sees_both_sides for layer in self.parts)

    def build(self, in_width: int) -> None:
        for layer in self.parts:
            layer.build(in_width)
            in_width = layer.width
        self.width = in_width

    def begin(self, rows: int, capacity: int | None = None) -> State:
        inner = {str(i): layer.begin(rows, capacity) for i, layer in enumerate(self.parts)}
        return {"position": inner["0"]["position"].clone(), **inner}

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        state: State | None = None,
        *,
        starts: Tensor | None = None,
        condition: Tensor | None = None,
    ) -> tuple[Tensor, State]:
        self.admit(state, condition, rows=x.shape[0])
        before = state["position"] if state else torch.zeros(x.shape[0], dtype=torch.long, device=x.device)
        after: State = {"position": advance(before, x.shape[1], mask)}
        for i, layer in enumerate(self.parts):
            x, after[str(i)] = layer(x, mask, state[str(i)] if state else None, starts=starts)
        return x, after

    def layers(
        self, x: Tensor, mask: Tensor | None = None, state: State | None = None, *, starts: Tensor | None = None
    ) -> list[Tensor]:
        self.admit(state, rows=x.shape[0])
        outputs = []
        for i, layer in enumerate(self.parts):
            outputs += layer.layers(x, mask, state[str(i)] if state else None, starts=starts)
            x = outputs[-1]
        return outputs

    def by_layer(self) -> list[list[nn.Parameter]]:
        return [layer for part in self.parts for layer in part.by_layer()]

    def trace(
        self, x: Tensor, mask: Tensor | None = None, state: State | None = None, *, starts: Tensor | None = None
    ) -> dict[str, Tensor]:
        self.admit(state, rows=x.shape[0])
        found: dict[str, Tensor] = {}
        for i, layer in enumerate(self.parts):
            inner = state[str(i)] if state else None
            found |= {f"{i}.{name}": value for name, value in layer.trace(x, mask, inner, starts=starts).items()}
            x = layer(x, mask, inner, starts=starts)[0]
        return found
