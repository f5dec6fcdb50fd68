"""Dilated convolutions one above the other: WaveNet (van den Oord et al. 2016) and TCN (Bai et al. 2018).

gated, WaveNet's block         a, g = taps(x^l) + V_l c;  z^l = tanh(a) * sigmoid(g);  x^{l+1} = x^l + W_l z^l
                               y = relu(U relu(V [z^0; ..; z^{L-1}] + b) + c)      the skips of all blocks at once
residual, TCN's block          h = relu(taps'(relu(taps(x^l) + V_l c)));       x^{l+1} = relu(x^l + h);  y = x^L

c is a condition, where there is one: of the whole row (WaveNet's global conditioning) or of each step (local).
`dilations` has the dilation of each block from below, all of it `repeat` times. A step sees 1 + sum (k-1) d steps, two
convolutions a block counted where it is residual: with dilations 1, 2, 4 .. that doubles with every block, where plain
convolutions (dilations 1, 1, 1 ..) add k - 1. Departures: the residual product of the topmost gated block, which nobody
reads, is left out; TCN's weights are not normed; dropout is on z and h.

The state holds what each convolution saw last (taps.py); begun with a capacity it holds it in rings, and to go on by
one step costs the same however far back a step sees. With `causal: false` as far ahead as back.

x (B, T, D), c (B, C) or (B, T, C) -> y (B, T, H), zero where masked; state {"position": (B,), "past": (B, sum of all
(k-1) d, size)}.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, cast

import torch
from torch import Tensor, nn

from foresay.encode.encoder import Encoder, State, advance, with_rest
from foresay.encode.taps import Rings, Taps, past_of, ring_of
from foresay.errors import UserError
from foresay.kernels.dropout import dropout
from foresay.kernels.gate import gated
from foresay.kernels.thin import linear
from foresay.parts import Share, Size, part

DOUBLING = [1, 2, 4, 8, 16, 32, 64, 128]
RINGS = "rings"  # a state that has this, of no width, holds its past in rings
Run = Callable[[Taps, Tensor], Tensor]  # a convolution over what it is given and what came before


@part("encoder", "dilated")
class Dilated(Encoder):
    """Dilated convolutions: WaveNet's gated blocks with skips, or TCN's residual ones."""

    takes_condition = True

    def __init__(
        self,
        *,
        size: Size = 128,
        kernel: Size = 2,
        dilations: list[int] = DOUBLING,
        repeat: Size = 1,
        block: Literal["gated", "residual"] = "gated",
        skip: Size | None = None,
        dropout: Share = 0.0,
        causal: bool = True,
    ) -> None:
        super().__init__()
        if kernel < 2:
            raise UserError(f"encoder.kernel={kernel} sees no other step; allowed: 2 or more")
        if not dilations or min(dilations) < 1:
            raise UserError(
                f"encoder.dilations={dilations}; allowed: one integer > 0 for each block, such as [1, 2, 4]"
            )
        if skip is not None and block == "residual":
            raise UserError(f"encoder.skip={skip}: residual blocks have no skips; leave it out, or set block=gated")
        self.size, self.kernel, self.dilations, self.gated = size, kernel, dilations * repeat, block == "gated"
        self.width, self.dropout, self.causal = skip or size, dropout, causal
        self.rings: Rings | None = None  # from the first step on

    def build(self, in_width: int) -> None:
        self.widen = nn.Linear(in_width, self.size) if in_width != self.size else nn.Identity()
        make, number = (Gated, len(self.dilations)) if self.gated else (Residual, 2 * len(self.dilations))
        self.blocks = cast("list[Gated | Residual]", nn.ModuleList(
            make(self.size, self.kernel, dilation, level, number, self.dropout, self.causal)
            for level, dilation in enumerate(self.dilations)
        ))  # fmt: skip
        if self.condition_width:
            self.given = nn.Linear(self.condition_width, len(self.blocks) * self.opening, bias=False)  # every V_l
        self.taps = [one for block in self.blocks for one in block.modules() if isinstance(one, Taps)]
        if self.gated:
            self.skips = nn.Linear(len(self.dilations) * self.size, self.width)
            self.head = nn.Linear(self.width, self.width)
            for layer in (self.skips, self.head):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
                nn.init.zeros_(layer.bias)

    @property
    def opening(self) -> int:
        """How many numbers the first convolution of a block gives."""
        return 2 * self.size if self.gated else self.size

    @property
    def receptive_field(self) -> int:
        """How many steps an output depends on, its own among them."""
        return 1 + sum(one.span for one in self.taps)

    def begin(self, rows: int, capacity: int | None = None) -> State:
        like = next(self.parameters()).detach()
        state: State = {"position": torch.zeros(rows, dtype=torch.long, device=like.device)}
        if self.causal:
            state["past"] = like.new_zeros(rows, self.receptive_field - 1, self.size)
        return state if capacity is None or not self.causal else state | {RINGS: like.new_zeros(rows, 0)}

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
        outputs, state = self._run(x, mask, state, starts, condition)
        return outputs[-1], state

    def layers(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        state: State | None = None,
        *,
        starts: Tensor | None = None,
        condition: Tensor | None = None,
    ) -> list[Tensor]:
        self.admit(state, condition, rows=x.shape[0])
        return self._run(x, mask, state, starts, condition)[0]

    def by_layer(self) -> list[list[nn.Parameter]]:
        return with_rest(self, [[block] for block in self.blocks])

    def _run(
        self, x: Tensor, mask: Tensor | None, state: State | None, starts: Tensor | None, condition: Tensor | None
    ) -> tuple[list[Tensor], State]:
        """Every block's output, the last one y, and the state after."""
        position = x.new_zeros(x.shape[0], dtype=torch.long) if state is None else state["position"]
        after: State = {"position": advance(position, x.shape[1], mask)}
        if state is not None and RINGS in state:
            if x.shape[1] == 1 and starts is None:
                return self._step(x, mask, state, after, condition)
            past = self._parts(state["past"], lambda one: past_of(one, position))
        else:
            past = {} if state is None or not self.causal else self._parts(state["past"])
        starts = starts & mask if starts is not None and mask is not None else starts
        document = None if starts is None else starts.cumsum(1)

        last: list[Tensor] = []

        def run(taps: Taps, x: Tensor) -> Tensor:
            if self.causal:
                last.append(taps.last(x, past.get(taps), mask, document))
            elif mask is not None:
                x = x.masked_fill(~mask[..., None], 0)
            return taps(x, past.get(taps), document)

        outputs = self._through(x, run, mask, condition)
        if state is not None and RINGS in state:
            last = [ring_of(one, after["position"]) for one in last]
            after[RINGS] = state[RINGS]
        return outputs, after | ({"past": torch.cat(last, 1)} if self.causal else {})

    def _parts(self, past: Tensor, change: Callable[[Tensor], Tensor] = lambda one: one) -> dict[Taps, Tensor]:
        """Each convolution's own of what came before."""
        parts = past.split([one.span for one in self.taps], 1)
        return {one: change(part) for one, part in zip(self.taps, parts, strict=True)}

    def _step(
        self, x: Tensor, mask: Tensor | None, state: State, after: State, condition: Tensor | None
    ) -> tuple[list[Tensor], State]:
        """One step, whose rings go on in their place."""
        if self.rings is None or self.rings.spans.device != x.device:
            self.rings = Rings(self.taps, x)
        seen, places = self.rings.read(state["past"], state["position"])
        sights, given = iter(seen.flatten(2).unbind(1)), list[Tensor]()

        def run(taps: Taps, x: Tensor) -> Tensor:
            given.append(x)
            return taps.step(x, next(sights))

        condition = condition[:, 0] if condition is not None and condition.ndim == 3 else condition
        outputs = self._through(x[:, 0], run, None if mask is None else mask[:, 0], condition)
        new = torch.stack(given, 1)
        new = new if mask is None else torch.where(mask[..., None], new, seen[:, :, 0])
        self.rings.write(state["past"], places, new)
        return [y[:, None] for y in outputs], state | after

    def _through(self, x: Tensor, run: Run, mask: Tensor | None, condition: Tensor | None) -> list[Tensor]:
        own = self._given(condition, x.ndim)
        x, outputs, inner = self.widen(x), [], []
        for block, given in zip(self.blocks, own, strict=True):
            x, z = block(x, run, given)
            outputs.append(x)
            inner.append(z)
        if self.gated:
            skipped = linear(self.skips, torch.cat(inner, -1)).relu()
            outputs[-1] = linear(self.head, skipped).relu()
        return outputs if mask is None else [y.masked_fill(~mask[..., None], 0) for y in outputs]

    def _given(self, condition: Tensor | None, axes: int) -> Sequence[Tensor | None]:
        """What a condition adds to the first convolution of each block, V_l c."""
        if condition is None:
            return [None] * len(self.blocks)
        given = linear(self.given, condition)
        return (given if given.ndim == axes else given[:, None]).split(self.opening, -1)


class Gated(nn.Module):
    """x -> x + W z and z = tanh(a) * sigmoid(g); the topmost gives x as it is."""

    def __init__(
        self, size: int, kernel: int, dilation: int, level: int, levels: int, dropout: float, causal: bool
    ) -> None:
        super().__init__()
        self.taps = Taps(size, 2 * size, kernel, dilation, causal=causal)
        self.onward = nn.Linear(size, size) if level < levels - 1 else None
        self.dropout = dropout
        nn.init.xavier_uniform_(self.taps.weight)
        if self.onward is not None:
            nn.init.normal_(self.onward.weight, std=(size * levels) ** -0.5)  # so that x does not grow with the depth
            nn.init.zeros_(self.onward.bias)

    def forward(self, x: Tensor, run: Run, given: Tensor | None = None) -> tuple[Tensor, Tensor]:
        opened = run(self.taps, x)
        z = dropout(gated(opened if given is None else opened + given), self.dropout, self.training)
        return x if self.onward is None else x + linear(self.onward, z), z


class Residual(nn.Module):
    """x -> relu(x + h), h = relu(taps'(relu(taps(x)))); gives h too."""

    def __init__(
        self, size: int, kernel: int, dilation: int, level: int, levels: int, dropout: float, causal: bool
    ) -> None:
        super().__init__()
        self.first = Taps(size, size, kernel, dilation, causal=causal)
        self.second = Taps(size, size, kernel, dilation, causal=causal)
        self.dropout = dropout
        for taps, scale in ((self.first, 1.0), (self.second, (levels / 2) ** -0.5)):
            nn.init.normal_(taps.weight, std=scale * (2 / (kernel * size)) ** 0.5)  # made for ReLU: He et al. 2015

    def forward(self, x: Tensor, run: Run, given: Tensor | None = None) -> tuple[Tensor, Tensor]:
        opened = run(self.first, x)
        h = dropout((opened if given is None else opened + given).relu(), self.dropout, self.training)
        h = dropout(run(self.second, h).relu(), self.dropout, self.training)
        return (x + h).relu(), h
