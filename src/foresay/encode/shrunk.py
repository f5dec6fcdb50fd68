"""Down-sampling before an encoder whose cost grows faster than the number of steps, as attention's T^2 does.

    z_j = first, mean or max of x_{jn} .. x_{jn+n-1}        n = by; over the real steps of the block alone
    z_j = [x_{jn}; ..; x_{jn+n-1}]                          how: join; zeros for steps that are not there
    y_t = encoder(z)_{t // n}                               each output repeated for all steps of its block

The encoder sees ceil(T / n) steps. Blocks are counted from the beginning of each document, so that no block holds steps
of two; a document's last block may be short. A block of padding alone is padding. A step sees the other steps of its
block, so this is not causal whatever the encoder within is.

x (B, T, D) -> y (B, T, H), zero where masked; state {"position": (B,), "inner": the encoder's}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor

from foresay.encode.encoder import Encoder, State, advance
from foresay.encode.window import find_begun
from foresay.parts import Size, anew, part

How = Literal["stride", "mean", "max", "join"]


@dataclass(frozen=True)
class Blocks:
    """Which block each step belongs to (B, T), how many there are at most, and which of them are real and begin."""

    of: Tensor
    place: Tensor  # of each step in its block
    number: int
    mask: Tensor | None
    starts: Tensor | None


@part("encoder", "shrunk")
class Shrunk(Encoder):
    """Every few steps as one before an encoder of any kind, its outputs repeated: attention for less."""

    causal = False

    def __init__(self, *, encoder: Encoder | str = "transformer", by: Size = 4, how: How = "mean") -> None:
        super().__init__()
        self.inner, self.by, self.how = cast("Encoder", anew(encoder)), by, how
        self.longest = None if self.inner.longest is None else self.inner.longest * by
        self.grows, self.halves = self.inner.grows, self.inner.halves
        self.within = f"encoder.{self.inner.within}"

    @property
    def sees_both_sides(self) -> bool:
        return self.inner.sees_both_sides

    def how_one_way(self) -> str:
        return "use another encoder: in shrunk a step sees the others of its block"

    def build(self, in_width: int) -> None:
        self.inner.build(in_width * self.by if self.how == "join" else in_width)
        self.width = self.inner.width

    def begin(self, rows: int, capacity: int | None = None) -> State:
        inner = self.inner.begin(rows, None if capacity is None else -(-capacity // self.by))
        return {"position": inner["position"].clone(), "inner": inner}

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
        blocks = self._blocks(x, mask, starts)
        y, inner = self.inner(self._pooled(x, mask, blocks), blocks.mask, starts=blocks.starts)
        position = advance(torch.zeros(x.shape[0], dtype=torch.long, device=x.device), x.shape[1], mask)
        return self._repeated(y, mask, blocks), {"position": position, "inner": inner}

    def layers(
        self, x: Tensor, mask: Tensor | None = None, state: State | None = None, *, starts: Tensor | None = None
    ) -> list[Tensor]:
        self.admit(state, rows=x.shape[0])
        blocks = self._blocks(x, mask, starts)
        found = self.inner.layers(self._pooled(x, mask, blocks), blocks.mask, starts=blocks.starts)
        return [self._repeated(y, mask, blocks) for y in found]

    def _blocks(self, x: Tensor, mask: Tensor | None, starts: Tensor | None) -> Blocks:
        rows, steps = x.shape[:2]
        place = torch.arange(steps, device=x.device).expand(rows, steps)
        if starts is not None and mask is not None:
            starts = starts & mask
        begun = find_begun(starts, steps)
        if starts is None or begun is None:
            of, number = place // self.by, -(-steps // self.by)
            return Blocks(of, place % self.by, number, None if mask is None else mask[:, :: self.by], None)
        inside = (place - begun.clamp(min=0)) % self.by
        opens = inside == 0
        of = opens.cumsum(1) - 1
        number = int(of[:, -1].max()) + 1
        real = opens if mask is None else opens & mask
        inner = torch.arange(number, device=x.device) < real.sum(1, keepdim=True)
        begins = torch.zeros(rows, number, dtype=torch.long, device=x.device).scatter_add(1, of, starts.long())
        return Blocks(of, inside, number, inner, begins > 0)

    def _pooled(self, x: Tensor, mask: Tensor | None, blocks: Blocks) -> Tensor:
        """One vector for each block: (B, T, D) -> (B, number, D), or n D joined; zeros where a block has no step."""
        rows, _, width = x.shape
        of = blocks.of[..., None].expand_as(x)
        real = x.new_ones(x.shape[:2]) if mask is None else mask.to(x.dtype)
        if self.how == "max":
            lowest = x if mask is None else x.masked_fill(~mask[..., None], -torch.inf)
            found = x.new_full((rows, blocks.number, width), -torch.inf).scatter_reduce(1, of, lowest, "amax")
            return found.masked_fill(found == -torch.inf, 0)
        if self.how == "join":
            kept = x if mask is None else x.masked_fill(~mask[..., None], 0)
            at = (blocks.of * self.by + blocks.place)[..., None].expand_as(x)
            found = x.new_zeros(rows, blocks.number * self.by, width).scatter_add(1, at, kept)
            return found.unflatten(1, (blocks.number, self.by)).flatten(2)
        if self.how == "stride":
            real = real * (blocks.place == 0)
        kept = x.masked_fill(real[..., None] == 0, 0)
        sums = x.new_zeros(rows, blocks.number, width).scatter_add(1, of, kept)
        counts = x.new_zeros(rows, blocks.number).scatter_add(1, blocks.of, real)
        return sums / counts.clamp(min=1)[..., None]

    def _repeated(self, y: Tensor, mask: Tensor | None, blocks: Blocks) -> Tensor:
        """Each block's output at all of its steps."""
        found = y.gather(1, blocks.of[..., None].expand(*blocks.of.shape, y.shape[2]))
        return found if mask is None else found.masked_fill(~mask[..., None], 0)
