"""A block of a Transformer: attention, perhaps a look at a memory, then dense layers, each around its shortcut.

pre:   x + f(norm(x))        post:  norm(x + f(x))
layer: LN(x) = g (x - mean) / deviation + b        rms: x g / sqrt(mean x^2)
dense: W2 act(W1 x);  swiglu: W2 (silu(W1 x) * W3 x)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.encode.attention import Attention, Heads, Seen
from foresay.kernels.dropout import dropout
from foresay.kernels.gelu import gelu_tanh
from foresay.kernels.thin import linear
from foresay.parts import Size


def _gelu_tanh(x: Tensor) -> Tensor:
    """GELU with tanh in place of erf; compiled as x sigmoid 2u, (1 + tanh u) / 2 being that: a GPU's tanh is slow."""
    if not torch.compiler.is_compiling():
        return gelu_tanh(x)
    wide = x.float()
    return (wide * torch.sigmoid(wide * (1.5957691216057308 + 0.07135481627260025 * wide * wide))).to(x.dtype)


Norm = Literal["layer", "rms"]
Activation = Literal["gelu", "gelu-tanh", "relu", "swiglu"]
ACT: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "gelu-tanh": _gelu_tanh,
    "relu": F.relu,
    "swiglu": F.silu,
}


class RMSNorm(nn.RMSNorm):
    """In the precision of its weights, as torch runs LayerNorm under autocast; it would warn here, and be slow."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.to(self.weight.dtype))


@dataclass(frozen=True)
class Form:
    """What a block is made of."""

    hidden: Size | None = None  # width of the dense layers; None: 4 x the model's, 8/3 x for swiglu
    activation: Activation = "gelu"
    norm: Norm = "layer"
    place: Literal["pre", "post"] = "pre"
    shortcuts: Literal["residual", "dense"] = "residual"
    bias: bool = True

    def new_norm(self, size: int) -> nn.Module:
        return nn.LayerNorm(size, bias=self.bias) if self.norm == "layer" else RMSNorm(size, eps=1e-5)


class Memory(NamedTuple):
    """What a block looks at besides its own steps: keys, values, what is seen of them; `maps` is filled if given."""

    k: Tensor
    v: Tensor
    seen: Seen
    maps: list[Tensor] | None = None


class Dense(nn.Module):
    """Two dense layers, or three with a gate."""

    def __init__(self, size: int, form: Form):
        super().__init__()
        self.activation: str = form.activation
        self.gated, self.act = form.activation == "swiglu", ACT[form.activation]
        hidden = form.hidden or (8 * size // 3 if self.gated else 4 * size)
        self.rise = nn.Linear(size, 2 * hidden if self.gated else hidden, bias=form.bias)
        self.fall = nn.Linear(hidden, size, bias=form.bias)

    def forward(self, x: Tensor) -> Tensor:
        if not self.gated:
            return linear(self.fall, self.act(linear(self.rise, x)))
        gate, value = linear(self.rise, x).chunk(2, -1)
        return linear(self.fall, self.act(gate) * value)


class Block(nn.Module):
    """`look`, `add` and `finish` are its steps, for callers that keep a cache between them."""

    def __init__(self, size: int, heads: int, how: Heads, form: Form, dropout: float, *, memory: int | None = None):
        super().__init__()
        self.dropout, self.pre = dropout, form.place == "pre"
        self.norm_attention, self.norm_dense = form.new_norm(size), form.new_norm(size)
        self.attention, self.dense = Attention(size, heads, how, bias=form.bias), Dense(size, form)
        self.norm_memory = self.source = None
        if memory is not None:
            self.norm_memory = form.new_norm(size)
            self.source = Attention(
                size, heads, Heads(**{**how.__dict__, "window": None}), memory=memory, bias=form.bias
            )

    def initialise(self, layers: int) -> None:
        """GPT-2's beginnings: deviation 0.02, less on what is added to the stream, so that its size does not grow."""
        added = [self.dense.fall, *(a.join for a in (self.attention, self.source) if a is not None)]
        for dense in (module for module in self.modules() if isinstance(module, nn.Linear)):
            nn.init.normal_(dense.weight, std=0.02 / (2 * layers) ** 0.5 if dense in added else 0.02)
            if dense.bias is not None:
                nn.init.zeros_(dense.bias)

    def forward(
        self,
        x: Tensor,
        seen: Seen,
        turns: Tensor | None = None,
        past: tuple[Tensor, Tensor] | None = None,
        memory: Memory | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The output, and all keys and values that were looked at: those of the past before those of x."""
        q, k, v = self.look(x, turns)
        if past is not None:
            k, v = torch.cat([past[0], k], 1), torch.cat([past[1], v], 1)
        drop = self.dropout if self.training else 0.0
        x = self.add(x, self.norm_attention, self.attention.mix(q, k, v, seen, drop=drop))
        return self.finish(x, memory), k, v

    def look(self, x: Tensor, turns: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of what the block reads."""
        return self.attention.project(self.norm_attention(x) if self.pre else x, turns)

    def add(self, x: Tensor, norm: nn.Module, found: Tensor) -> Tensor:
        """Around a shortcut."""
        x = x + dropout(found, self.dropout, self.training) if self.dropout and self.training else x + found
        return x if self.pre else norm(x)

    def finish(self, x: Tensor, memory: Memory | None = None) -> Tensor:
        """All after the attention to itself."""
        if memory is not None:
            assert self.norm_memory is not None
            x = self.add(x, self.norm_memory, self._recall(self.norm_memory(x) if self.pre else x, memory))
        return self.add(x, self.norm_dense, self.dense(self.norm_dense(x) if self.pre else x))

    def _recall(self, y: Tensor, memory: Memory) -> Tensor:
        assert self.source is not None
        q = self.source.ask(y)
        if memory.maps is not None:
            memory.maps.append(self.source.weights(q, memory.k, memory.seen))
        drop = self.dropout if self.training else 0.0
        return self.source.mix(q, memory.k, memory.v, memory.seen, drop=drop)
