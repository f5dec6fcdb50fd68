"""A Transformer (Vaswani et al. 2017), by default as GPT-2 arranges and begins it: causal, pre-norm.

    x^0 = x + P[position in the document]          rotary positions turn queries and keys instead
    x^{l+1} = block_l(x^l)                         attention, then dense layers (block.py)
    y = norm(x^L)                                  with pre-norm; with post-norm x^L as it is

With `shortcuts: dense` block l reads W_l [x^0; ..; x^{l-1}], all layers below it. A step sees itself and what came
before it in its own document, no further back than `attention.window` steps in all; with `causal: false` the whole of
its document, and as far ahead as back.

The state is the cache of keys and values (cache.py). x (B, T, D) -> y (B, T, H), zero where masked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.embed.positions import Positions
from foresay.encode import cache
from foresay.encode.attention import Heads, Seen
from foresay.encode.block import Block, Form, Memory
from foresay.encode.encoder import Encoder, State
from foresay.kernels.attend import Slots, attend
from foresay.parts import Share, Size, anew, part

FAR = 1 << 60  # a window that is none


@part("encoder", "transformer")
class Transformer(Encoder):
    """Self-attention in blocks, with a key and value cache; causal, or seeing both sides."""

    def __init__(
        self,
        *,
        size: Size = 256,
        layers: Size = 4,
        heads: Size = 4,
        positions: Positions | str = "sinusoidal",
        dropout: Share = 0.0,
        causal: bool = True,
        attention: Heads = Heads(),  # noqa: B008 - frozen
        block: Form = Form(),  # noqa: B008 - frozen
    ) -> None:
        super().__init__()
        self.width, self.heads, self.window, self.dropout = size, heads, attention.window, dropout
        self.causal, self.grows = causal, attention.window is None
        self.positions = anew(positions)
        self.longest = self.positions.longest
        self.blocks = cast(
            "list[Block]", nn.ModuleList(Block(size, heads, attention, block, dropout) for _ in range(layers))
        )
        self.norm = block.new_norm(size) if block.place == "pre" else nn.Identity()
        dense = block.shortcuts == "dense"
        self.below = nn.ModuleList(nn.Linear((n + 1) * size, size) for n in range(1, layers)) if dense else None

    def build(self, in_width: int) -> None:
        self.widen = nn.Linear(in_width, self.width) if in_width != self.width else nn.Identity()
        self.positions.build(self.width)
        self.positions.build_heads(self.blocks[0].attention.width)
        for block in self.blocks:
            block.initialise(len(self.blocks))

    def begin(self, rows: int, capacity: int | None = None) -> State:
        like = next(self.parameters()).detach().new_empty(rows, 0)
        return self._begin(like, None if self.window is not None or not self.causal else capacity)

    def _begin(self, like: Tensor, capacity: int | None = None) -> State:
        own = self.blocks[0].attention
        return cache.begin(like, len(self.blocks), (own.groups, own.width), (own.groups, own.values), capacity)

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

    def beside(
        self, x: Tensor, memory: Sequence[Memory], mask: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        """As `forward`, where every block has a memory to look at too."""
        self.admit(state, rows=len(x))
        outputs, state = self._run(x, mask, state, None, memory=memory)
        return outputs[-1], state

    def layers(
        self, x: Tensor, mask: Tensor | None = None, state: State | None = None, *, starts: Tensor | None = None
    ) -> list[Tensor]:
        self.admit(state, rows=len(x))
        return self._run(x, mask, state, starts)[0]

    def attention(self, x: Tensor, mask: Tensor | None = None, *, starts: Tensor | None = None) -> list[Tensor]:
        """How much each step looks at each, exactly, of every layer: (B, N, T, T), 0 where masked."""
        maps: list[Tensor] = []
        self._run(x, mask, None, starts, maps)
        return maps if mask is None else [one.masked_fill(~mask[:, None, :, None], 0) for one in maps]

    def _run(
        self,
        x: Tensor,
        mask: Tensor | None,
        state: State | None,
        starts: Tensor | None,
        maps: list[Tensor] | None = None,
        memory: Sequence[Memory] | None = None,
    ) -> tuple[list[Tensor], State]:
        """Every block's output, and the state after."""
        memories = memory or [None] * len(self.blocks)
        before = self._begin(x) if state is None else state
        position, begun = cache.places(x.shape[1], mask, before, starts)
        x = F.dropout(self.widen(x) + self.positions(position - begun), self.dropout, self.training)
        if "rows" in before:
            outputs, after = self._go_on(x, position, begun, mask, before, memories)
        else:
            outputs, after = self._all_at_once(x, position, begun, mask, before, starts, maps, memories)
        outputs[-1] = self.norm(outputs[-1])
        if mask is not None:
            outputs = [y.masked_fill(~mask[:, :, None], 0) for y in outputs]
        return outputs, after

    def _all_at_once(
        self, x: Tensor, position: Tensor, begun: Tensor, mask: Tensor | None, before: State, starts: Tensor | None,
        maps: list[Tensor] | None, memories: Sequence[Memory | None],
    ) -> tuple[list[Tensor], State]:  # fmt: skip
        after = cache.extended(before, position, begun, mask)
        alone = mask is None and starts is None and not before["at"].shape[1]
        seen = self._seen(position, begun, after["at"], mask, alone=alone)
        stream = [x]
        for layer, block in enumerate(self.blocks):
            held: dict[str, Any] = before[str(layer)]

            def look(y: Tensor, block: Block = block, layer: int = layer, held: dict[str, Any] = held) -> Tensor:
                q, k, v = self._turned(block, y, position)
                if held["k"].shape[1]:
                    k, v = torch.cat([held["k"], k], 1), torch.cat([held["v"], v], 1)
                after[str(layer)] = {"k": k, "v": v}
                if maps is not None:
                    maps.append(block.attention.weights(q, k, seen))
                return block.attention.mix(q, k, v, seen, drop=block.drop)

            x = block.around(self._input(layer, stream), block.norm_attention, look)
            stream.append(block.finish(x, memories[layer]))
        return stream[1:], after if self.window is None or not self.causal else cache.last(after, self.window - 1)

    def _go_on(
        self, x: Tensor, position: Tensor, begun: Tensor, mask: Tensor | None, state: State,
        memories: Sequence[Memory | None],
    ) -> tuple[list[Tensor], State]:  # fmt: skip
        """With room in the cache: new slots are written where they stay."""
        state, low, high = cache.taken(state, position, begun, mask)
        one = x.shape[1] == 1
        slots = Slots(state["rows"], state["at"], begun[:, 0], position[:, 0], high, FAR) if one else None
        seen = Seen() if one else self._seen(position, begun, state["at"][:, :high], mask)
        stream = [x]
        for layer, block in enumerate(self.blocks):
            held: dict[str, Any] = state[str(layer)]

            def look(y: Tensor, block: Block = block, held: dict[str, Any] = held) -> Tensor:
                q, k, v = self._turned(block, y, position)
                held["k"][:, low:high], held["v"][:, low:high] = k, v
                if slots is not None:
                    mixed = attend(q[:, :, 0], held["k"], held["v"], slots, block.attention.scale)
                    return block.attention.joined(mixed.flatten(1)[:, None])
                k, v = (cache.seen_from(state, held[name], high) for name in ("k", "v"))
                return block.attention.mix(q, k, v, seen)

            x = block.around(self._input(layer, stream), block.norm_attention, look)
            stream.append(block.finish(x, memories[layer]))
        return stream[1:], state

    def _turned(self, block: Block, y: Tensor, position: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values; rotary positions turn the first two."""
        q, k, v = block.attention.project(y)
        turned = self.positions.turned(q.transpose(1, 2), position).transpose(1, 2)
        return turned, self.positions.turned(k, position), v

    def _input(self, layer: int, stream: list[Tensor]) -> Tensor:
        """What a block reads: the layer below, or all of them."""
        if self.below is None or layer == 0:
            return stream[-1]
        return self.below[layer - 1](torch.cat(stream, -1))

    def _seen(self, position: Tensor, begun: Tensor, at: Tensor, mask: Tensor | None, *, alone: bool = False) -> Seen:
        """Which slots each step sees; no list of them where the steps are whole rows of one document."""
        if alone and position.shape[1] <= (self.window or position.shape[1]):
            return Seen(causal=self.causal)
        slot, step = at[:, None, :], position[:, :, None]
        if self.causal:
            seen = (slot >= begun[:, :, None]) & (slot <= step)
        else:
            seen = (begun[:, :, None] == begun[:, None, :]) & (slot >= 0)  # its own document
        if self.window is not None:
            seen &= (slot > step - self.window) & (slot < step + self.window)
        if mask is not None:
            seen |= ~mask[:, :, None]  # padding looks anywhere: a softmax over nothing would be NaN
        return Seen(seen[:, None])
