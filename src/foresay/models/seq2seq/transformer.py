"""A Transformer that writes: every block looks at its own steps, then at the source, then goes through dense layers.

    x^{l+1} = dense(look(attend(x^l), a))      each around its shortcut (encode/block.py)

Queries come from below, keys and values from the encoder's annotations a; those of the source are found once, those of
the steps before are kept in a cache.

x (B, T, D) -> features (B, T, H); state {"cache": ..., "source": {seen (B, S), "0": {k, v (B, S, G, d)}, ...}}.
"""

from __future__ import annotations

from typing import cast

from torch import Tensor, nn

from foresay.embed.positions import Positions
from foresay.encode.attention import Heads, Seen, check_heads
from foresay.encode.block import Block, Form, Memory
from foresay.encode.encoder import State
from foresay.encode.transformer import Transformer
from foresay.models.seq2seq.writer import Source, Writer, Wrote
from foresay.parts import Share, Size, part


@part("writer", "transformer")
class TransformerWriter(Writer):
    """Blocks of self-attention that look at the source too, with a key and value cache."""

    def __init__(
        self,
        *,
        size: Size = 256,
        layers: Size = 4,
        heads: Size = 4,
        positions: Positions | str = "sinusoidal",
        dropout: Share = 0.0,
        attention: Heads = Heads(),  # noqa: B008 - frozen
        block: Form = Form(),  # noqa: B008 - frozen
    ) -> None:
        super().__init__()
        check_heads(size, heads, attention, "writer.")
        self.inner = Transformer(
            size=size,
            layers=layers,
            heads=heads,
            positions=positions,
            dropout=dropout,
            attention=attention,
            block=block,
        )
        self.count, self.heads, self.dropout, self.how, self.form = layers, heads, dropout, attention, block
        self.width, self.grows, self.longest = size, self.inner.grows, self.inner.longest

    def build(self, in_width: int, source_width: int) -> None:
        made = (
            Block(self.width, self.heads, self.how, self.form, self.dropout, memory=source_width)
            for _ in range(self.count)
        )
        self.inner.blocks = cast("list[Block]", nn.ModuleList(made))
        self.inner.build(in_width)

    def begin(self, source: Source, capacity: int | None = None) -> State:
        kept: State = {"seen": source.mask}
        for layer, block in enumerate(self.inner.blocks):
            assert block.source is not None
            k, v = block.source.remember(source.annotations)
            kept[str(layer)] = {"k": k, "v": v}
        return {"cache": self.inner.begin(len(source.mask), capacity), "source": kept}

    def forward(self, x: Tensor, state: State, mask: Tensor | None = None) -> tuple[Wrote, State]:
        return self._run(x, state, mask, None)

    def _run(self, x: Tensor, state: State, mask: Tensor | None, maps: list[Tensor] | None) -> tuple[Wrote, State]:
        source = state["source"]
        seen = Seen.only(source["seen"][:, None, None])
        memory = [Memory(source[str(n)]["k"], source[str(n)]["v"], seen, maps) for n in range(self.count)]
        y, cache = self.inner.beside(x, memory, mask, state["cache"])
        return Wrote(y), {"cache": cache, "source": source}

    def looks(self, x: Tensor, state: State) -> list[Tensor]:
        maps: list[Tensor] = []
        self._run(x, state, None, maps)
        return maps
