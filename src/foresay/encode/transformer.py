"""A small causal Transformer, pre-norm (Vaswani et al. 2017; the arrangement and beginnings of GPT-2).

    x^0 = x + P[position in the document]
    a   = x^l + Wo attention(LN(x^l));    x^{l+1} = a + W2 gelu(W1 LN(a));    y = LN(x^L)
    attention: softmax(q k' / sqrt(d)) v over what a step may see: itself and what came before it in its own
    document, no further back than `window` steps in all

The state is the cache of keys and values. Every slot knows the position it holds (`at`, -1 = padding), so ragged rows
and document starts are exact: slot j is seen from step i when begun_i <= at_j <= position_i. With a window the cache
keeps each row's last window - 1 slots.

x (B, T, D) -> y (B, T, H), zero where masked. N heads of width d, C slots: state {"position": (B,) real steps seen,
"begun": (B,) where the document began, "at": (B, C), "0": {"k": (B, N, C, d), "v": (B, N, C, d)}, ...}.
"""

from __future__ import annotations

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.embed.positions import Positions
from foresay.encode.encoder import Encoder, State, advance
from foresay.errors import UserError
from foresay.parts import Share, Size, anew, part


@part("encoder", "transformer")
class Transformer(Encoder):
    """Causal self-attention in pre-norm blocks, with a key and value cache."""

    def __init__(
        self,
        *,
        size: Size = 256,
        layers: Size = 4,
        heads: Size = 4,
        hidden: Size | None = None,
        window: Size | None = None,
        positions: Positions | str = "sinusoidal",
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        if size % heads:
            raise UserError(f"heads={heads} does not divide size={size}: every head gets an equal share")
        self.width, self.heads, self.window, self.dropout = size, heads, window, dropout
        self.grows = window is None
        self.positions = anew(positions)
        self.longest = self.positions.longest
        blocks = (Block(size, heads, hidden or 4 * size, dropout) for _ in range(layers))
        self.blocks = cast("list[Block]", nn.ModuleList(blocks))
        self.norm = nn.LayerNorm(size)

    def build(self, in_width: int) -> None:
        self.widen = nn.Linear(in_width, self.width) if in_width != self.width else nn.Identity()
        self.positions.build(self.width)
        for block in self.blocks:
            block.initialise(len(self.blocks))

    def begin(self, rows: int, capacity: int | None = None) -> State:
        return self._begin(self.norm.weight.detach().new_empty(rows, 0))

    def _begin(self, like: Tensor) -> State:
        rows, d = len(like), self.width // self.heads
        zero = torch.zeros(rows, dtype=torch.long, device=like.device)
        state: State = {"position": zero, "begun": zero.clone(), "at": zero.new_zeros(rows, 0)}
        for layer in range(len(self.blocks)):
            state[str(layer)] = {name: like.new_zeros(rows, self.heads, 0, d) for name in ("k", "v")}
        return state

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        state: State | None = None,
        *,
        starts: Tensor | None = None,
        condition: Tensor | None = None,
    ) -> tuple[Tensor, State]:
        self.admit(state, condition, rows=len(x))
        outputs, state = self._run(x, mask, state, starts)
        return outputs[-1], state

    def layers(
        self, x: Tensor, mask: Tensor | None = None, state: State | None = None, *, starts: Tensor | None = None
    ) -> list[Tensor]:
        self.admit(state, rows=len(x))
        return self._run(x, mask, state, starts)[0]

    def _run(
        self, x: Tensor, mask: Tensor | None, state: State | None, starts: Tensor | None
    ) -> tuple[list[Tensor], State]:
        """Every block's output, and the state after."""
        before = self._begin(x) if state is None else state
        position, begun = self._places(x.shape[1], mask, before, starts)
        at = torch.cat([before["at"], position if mask is None else position.where(mask, -1)], 1)
        after: State = {"position": advance(before["position"], x.shape[1], mask), "begun": before["begun"], "at": at}
        if starts is not None and x.shape[1]:
            after["begun"] = begun[:, -1]
        seen = self._seen(position, begun, at, mask, starts)
        x = F.dropout(self.widen(x) + self.positions(position - begun), self.dropout, self.training)
        outputs = []
        for layer, block in enumerate(self.blocks):
            x, after[str(layer)] = block(x, before[str(layer)], seen)
            outputs.append(x)
        outputs[-1] = self.norm(x)
        if mask is not None:
            outputs = [y.masked_fill(~mask[:, :, None], 0) for y in outputs]
        return outputs, after if self.window is None else self._forget(after, self.window - 1)

    def _places(self, steps: int, mask: Tensor | None, state: State, starts: Tensor | None) -> tuple[Tensor, Tensor]:
        """Of every step its position in the row and the position where its document began, each (B, T)."""
        first = state["position"][:, None]
        if mask is None:
            position = first + torch.arange(steps, device=first.device)
        else:
            position = (first + mask.long().cumsum(1) - 1).clamp(min=0)  # padding stays at the last real one
        begun = state["begun"][:, None].expand_as(position)
        if starts is not None and steps:
            starts = starts if mask is None else starts & mask
            begun = torch.maximum(begun, position.where(starts, -1).cummax(1).values)
        return position, begun

    def _seen(
        self, position: Tensor, begun: Tensor, at: Tensor, mask: Tensor | None, starts: Tensor | None
    ) -> Tensor | None:
        """Which slots each step sees, (B, 1, T, C), or None for plain causal attention without a past."""
        steps, slots = position.shape[1], at.shape[1]
        if mask is None and starts is None and slots == steps and steps <= (self.window or steps):
            return None
        slot, step = at[:, None, :], position[:, :, None]
        seen = (slot >= begun[:, :, None]) & (slot <= step)
        if self.window is not None:
            seen &= slot > step - self.window
        if mask is not None:
            seen |= ~mask[:, :, None]  # padding looks anywhere: a softmax over nothing would be NaN
        return seen[:, None]

    def _forget(self, state: State, keep: int) -> State:
        """Each row's last `keep` slots: all that a later step can see."""
        if state["at"].shape[1] <= keep:
            return state
        at, slots = state["at"].topk(keep, 1)
        kept: State = {"position": state["position"], "begun": state["begun"], "at": at}
        for layer in range(len(self.blocks)):
            old = state[str(layer)]
            index = slots[:, None, :, None].expand(-1, self.heads, -1, old["k"].shape[3])
            kept[str(layer)] = {name: tensor.gather(2, index) for name, tensor in old.items()}
        return kept


class Block(nn.Module):
    """Attention, then two dense layers, each on normalised input and added to it."""

    def __init__(self, size: int, heads: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.norm_attention, self.norm_dense = nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv, self.join = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.rise, self.fall = nn.Linear(size, hidden), nn.Linear(hidden, size)

    def initialise(self, layers: int) -> None:
        """GPT-2's beginnings: deviation 0.02, less on what is added to the stream, so that its size does not grow."""
        for dense in (self.qkv, self.join, self.rise, self.fall):
            added = dense in (self.join, self.fall)
            nn.init.normal_(dense.weight, std=0.02 / (2 * layers) ** 0.5 if added else 0.02)
            nn.init.zeros_(dense.bias)

    def forward(self, x: Tensor, cache: State, seen: Tensor | None) -> tuple[Tensor, State]:
        drop = self.dropout if self.training else 0.0
        q, k, v = self.qkv(self.norm_attention(x)).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if cache["k"].shape[2]:
            k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=seen, dropout_p=drop, is_causal=seen is None)
        x = x + F.dropout(self.join(mixed.transpose(1, 2).flatten(2)), drop)
        dense = self.fall(F.gelu(self.rise(self.norm_dense(x))))
        return x + F.dropout(dense, drop), {"k": k, "v": v}
