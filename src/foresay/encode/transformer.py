"""A Transformer (Vaswani et al. 2017), its blocks by default arranged and begun as GPT-2's: causal, pre-norm.

    x^0 = x + P[position in the document]          rotary positions turn queries and keys instead
    x^{l+1} = block_l(x^l)                         attention, then dense layers (block.py)
    y = norm(x^L)                                  with pre-norm; with post-norm x^L as it is

With `shortcuts: dense` block l > 0 reads W_l [x^0; ..; x^l], the input and all layers below it. A step sees itself and
what came before it in its own document, no further back than `attention.window` steps in all; with `causal: false` the
whole of its document, and as far ahead as back.

The state is the cache of keys and values (cache.py). x (B, T, D) -> y (B, T, H), zero where masked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from foresay.embed.positions import Positions
from foresay.encode import cache, onward
from foresay.encode.attention import Heads, Seen, check_heads
from foresay.encode.block import Block, Form, Memory
from foresay.encode.encoder import Encoder, State, with_rest
from foresay.kernels import blocks
from foresay.kernels.attend import Slots, attend
from foresay.kernels.dropout import dropout
from foresay.kernels.product import half_on_gpu
from foresay.kernels.switch import in_file
from foresay.parts import Share, Size, anew, part

FAR = 1 << 60  # a window that is none


@part("encoder", "transformer")
class Transformer(Encoder):
    """Self-attention in blocks, with a key and value cache; causal, or seeing both sides."""

    compiled: Callable[..., tuple[Tensor, Tensor, Tensor]] | None = None
    compiled_norm: Callable[[nn.Module, Tensor], Tensor] | None = None

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
        self.how, self.form = attention, block
        check_heads(size, heads, attention, "encoder.")
        self.causal, self.grows = causal, attention.window is None
        self.positions = anew(positions)
        self.longest = self.positions.longest
        self.blocks = cast(
            "list[Block]", nn.ModuleList(Block(size, heads, attention, block, dropout) for _ in range(layers))
        )
        self.norm = block.new_norm(size) if block.place == "pre" else nn.Identity()
        dense = block.shortcuts == "dense"
        self.below = nn.ModuleList(self._product((n + 1) * size) for n in range(1, layers)) if dense else None

    def build(self, in_width: int) -> None:
        self.widen = self._product(in_width) if in_width != self.width else nn.Identity()
        self.positions.build(self.width)
        self.positions.build_heads(self.blocks[0].attention.width)
        for block in self.blocks:
            block.initialise(len(self.blocks))

    def _product(self, in_width: int) -> nn.Linear:
        return nn.Linear(in_width, self.width, bias=self.form.bias)

    def compile_blocks(self) -> None:
        """Blocks are compiled when they next train; all blocks share what is compiled."""
        self.compiled = torch.compile(_alone, dynamic=False)
        self.compiled_norm = torch.compile(_normed, dynamic=False)

    def begin(self, rows: int, capacity: int | None = None) -> State:
        like = next(self.parameters()).detach().new_empty(rows, 0)
        return self._begin(like, None if self.window is not None or not self.causal else capacity)

    def _begin(self, like: Tensor, capacity: int | None = None) -> State:
        own = self.blocks[0].attention
        state = cache.begin(like, len(self.blocks), (own.groups, own.width), (own.groups, own.values), capacity)
        return cache.empty(state, self.window - 1) if in_file() and self.causal and self.window is not None else state

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

    def beside(
        self, x: Tensor, memory: Sequence[Memory], mask: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        """As `forward`, where every block has a memory to look at too."""
        self.admit(state, rows=x.shape[0])
        outputs, state = self._run(x, mask, state, None, memory=memory)
        return outputs[-1], state

    def layers(
        self, x: Tensor, mask: Tensor | None = None, state: State | None = None, *, starts: Tensor | None = None
    ) -> list[Tensor]:
        self.admit(state, rows=x.shape[0])
        return self._run(x, mask, state, starts)[0]

    def by_layer(self) -> list[list[nn.Parameter]]:
        return with_rest(self, [[block] for block in self.blocks])

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
        before, roomy = self._begin(x) if state is None else state, state is not None and "rows" in state
        roomy = roomy and onward.can_go_on(x)
        if roomy and mask is None and starts is None and memory is None and onward.is_usual(self, x):
            return onward.step(self, x, before, FAR)
        memories = memory or [None] * len(self.blocks)
        position, begun = cache.places(x.shape[1], mask, before, starts)
        alike = slice(1 if state is None and mask is None and starts is None else None)  # all rows have the same places
        x = dropout(self.widen(x) + self.positions((position - begun)[alike]), self.dropout, self.training)
        dtype = half_on_gpu(x)
        x = x if dtype is None else x.to(dtype)
        if roomy:
            outputs, after = onward.go_on(self, x, position, mask, before, FAR, memories)
            return outputs if mask is None else [y.masked_fill(~mask[:, :, None], 0) for y in outputs], after
        if "rows" in before:
            outputs, after = self._go_on(x, position, begun, mask, before, memories)
        else:
            after = cache.extended(before, position, begun, mask)
            alone = mask is None and starts is None and not before["at"].shape[1]
            seen = self._seen(position, begun, after["at"], mask, alone=alone)
            outputs = self._all_at_once(x, seen, self.positions.turns(position[alike]), before, after, maps, memories)
            after = after if self.window is None or not self.causal else cache.last(after, self.window - 1)
        norm = self.compiled_norm if self.compiled_norm is not None and self.training else nn.Module.__call__
        outputs[-1] = norm(self.norm, outputs[-1])
        if mask is not None:
            outputs = [y.masked_fill(~mask[:, :, None], 0) for y in outputs]
        return outputs, after

    def _all_at_once(
        self, x: Tensor, seen: Seen, turns: Tensor | None, before: State, after: State, maps: list[Tensor] | None,
        memories: Sequence[Memory | None],
    ) -> list[Tensor]:  # fmt: skip
        """Every block's output; keys and values go to the state after."""
        stream = [x]
        for layer, block in enumerate(self.blocks):
            x, held = self.input_of(layer, stream), before[str(layer)]
            past = (held["k"], held["v"]) if held["k"].shape[1] else None
            if maps is not None:
                q, k, _ = block.look(x, turns)
                maps.append(block.attention.weights(q, k, seen))
            run = self.compiled if self.compiled is not None and self.training and past is None else nn.Module.__call__
            x, k, v = run(block, x, seen, turns, past, memories[layer])
            after[str(layer)] = {"k": k, "v": v}
            stream.append(x)
        return stream[1:]

    def _go_on(
        self, x: Tensor, position: Tensor, begun: Tensor, mask: Tensor | None, state: State,
        memories: Sequence[Memory | None],
    ) -> tuple[list[Tensor], State]:  # fmt: skip
        """With room in the cache: new slots are written where they stay."""
        state, low, high = cache.taken(state, position, begun, mask)
        one, turns = x.shape[1] == 1, self.positions.turns(position)
        slots = Slots(state["rows"], state["at"], begun[:, 0], position[:, 0], high, FAR) if one else None
        seen = Seen() if one else self._seen(position, begun, state["at"][:, :high], mask)
        if one and memories[0] is None and self.below is None and blocks.can_step(self.blocks, x):
            caches = [state[str(layer)] for layer in range(len(self.blocks))]
            turned = None if turns is None else turns[:, :, 0, 0]
            outputs = blocks.step(
                self.blocks, x[:, 0], caches, state, begun[:, 0], position[:, 0], high - 1, FAR, turned
            )
            return [y[:, None] for y in outputs], state
        stream = [x]
        for layer, block in enumerate(self.blocks):
            x, held = self.input_of(layer, stream), state[str(layer)]
            q, k, v = block.look(x, turns)
            held["k"][:, low:high], held["v"][:, low:high] = k, v
            if slots is not None:
                mixed = attend(q[:, :, 0], held["k"], held["v"], slots, block.attention.scale)
                mixed = block.attention.joined(mixed.flatten(1)[:, None])
            else:
                k, v = (cache.seen_from(state, held[name], high) for name in ("k", "v"))
                mixed = block.attention.mix(q, k, v, seen)
            stream.append(block.finish(block.add(x, block.norm_attention, mixed), memories[layer]))
        return stream[1:], state

    def input_of(self, layer: int, stream: list[Tensor]) -> Tensor:
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


def _alone(
    block: Block, x: Tensor, seen: Seen, turns: Tensor | None, past: tuple[Tensor, Tensor] | None, memory: Memory | None
) -> tuple[Tensor, Tensor, Tensor]:
    """A block whose keys and values nobody trains through: their gradients would be zeros, made and added."""
    y, k, v = Block.forward(block, x, seen, turns, past, memory)
    return y, k.detach(), v.detach()


def _normed(norm: nn.Module, x: Tensor) -> Tensor:
    """As wide as x: of half precision, autocast would norm it into float32, which nobody needs."""
    return norm(x).to(x.dtype)
