"""The feed-forward language model's encoder (Bengio et al. 2003): the last n vectors through dense layers.

    h^1_t = tanh(W1 [x_{t-n+1}; ...; x_t] + b1)        n = span
    h^l_t = tanh(Wl h^{l-1}_t + bl)                     another activation in place of tanh; `identity` is linear

Zeros stand before the beginning of a row and of a document.

x (B, T, D) -> y (B, T, H), zero where masked; state {"position": (B,), "past": (B, n-1, D), the last inputs}.
"""

from __future__ import annotations

from typing import Literal, cast

import torch
from torch import Tensor, nn

from foresay.encode.cells.elman import ACTIVATIONS
from foresay.encode.encoder import Encoder, State, advance
from foresay.kernels.dropout import dropout
from foresay.kernels.thin import linear
from foresay.parts import Share, Size, part


@part("encoder", "window")
class Window(Encoder):
    """Dense layers over the last `span` vectors: the feed-forward language model."""

    def __init__(
        self,
        *,
        span: Size = 8,
        size: Size = 256,
        layers: Size = 1,
        activation: Literal["tanh", "relu", "sigmoid", "identity"] = "tanh",
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.activation, self.activate = activation, ACTIVATIONS[activation]
        self.span, self.width, self.depth, self.dropout = span, size, layers, dropout

    def build(self, in_width: int) -> None:
        self.in_width = in_width
        widths = [self.span * in_width] + [self.width] * (self.depth - 1)
        self.dense = cast("list[nn.Linear]", nn.ModuleList(nn.Linear(width, self.width) for width in widths))
        for layer in self.dense:
            nn.init.xavier_uniform_(layer.weight)  # made for tanh
            nn.init.zeros_(layer.bias)

    def begin(self, rows: int, capacity: int | None = None) -> State:
        return self._begin(self.dense[0].weight.detach().new_empty(rows, 0))

    def _begin(self, like: Tensor) -> State:
        position = torch.zeros(like.shape[0], dtype=torch.long, device=like.device)
        return {"position": position, "past": like.new_zeros(like.shape[0], self.span - 1, self.in_width)}

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
        outputs, state = self._run(x, mask, state, starts)
        return outputs[-1], state

    def layers(
        self, x: Tensor, mask: Tensor | None = None, state: State | None = None, *, starts: Tensor | None = None
    ) -> list[Tensor]:
        self.admit(state, rows=x.shape[0])
        return self._run(x, mask, state, starts)[0]

    def _run(
        self, x: Tensor, mask: Tensor | None, state: State | None, starts: Tensor | None
    ) -> tuple[list[Tensor], State]:
        """Every layer's output, and the state after."""
        before = self._begin(x) if state is None else state
        if starts is not None and mask is not None:
            starts = starts & mask
        steps = x.shape[1]
        joined = torch.cat([before["past"], x], 1)  # (B, n-1+T, D)
        # Window t is joined[t : t+n]; a document begun at step s lies in joined[s+n-1 :].
        index = torch.arange(steps + 1, device=x.device)[:, None] + torch.arange(self.span, device=x.device)
        begun = find_begun(starts, steps)
        h = torch.stack([joined[:, n : n + steps] for n in range(self.span)], 2)  # (B, T, n, D)
        if begun is not None:
            h = h.masked_fill((index[:steps] < begun[:, :steps, None] + self.span - 1)[..., None], 0)
        h = h.flatten(2)
        outputs = []
        for layer in self.dense:
            h = dropout(self.activate(linear(layer, h)), self.dropout, self.training)
            outputs.append(h)
        if mask is not None:
            outputs = [y.masked_fill(~mask[:, :, None], 0) for y in outputs]
        position = advance(before["position"], steps, mask)
        return outputs, {"position": position, "past": self._last(joined, mask, begun)}

    def _last(self, joined: Tensor, mask: Tensor | None, begun: Tensor | None) -> Tensor:
        """The n-1 vectors up to each row's last real step, zero where they belong to an earlier document."""
        steps = joined.shape[1] - (self.span - 1)
        length = (
            torch.full((joined.shape[0], 1), steps, device=joined.device) if mask is None else mask.sum(1, keepdim=True)
        )
        index = length + torch.arange(self.span - 1, device=joined.device)
        last = joined.gather(1, index[..., None].expand(-1, -1, joined.shape[2]))
        if begun is not None:
            last = last.masked_fill((index < begun[:, -1:] + self.span - 1)[..., None], 0)
        return last


def find_begun(starts: Tensor | None, steps: int) -> Tensor | None:
    """Of every step the step where its document began, (B, T), far below 0 when that was before this pass."""
    if starts is None or steps == 0:
        return None
    index = torch.arange(steps, device=starts.device).expand_as(starts)
    return index.where(starts, torch.iinfo(torch.long).min // 2).cummax(1).values
