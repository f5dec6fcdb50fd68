"""One step of a Transformer on a GPU, with room in its cache: nothing is asked of the device, so it can be a graph.

Blocks as GPT-2's go through kernels of their own: five a block for one row, seven for several, and more of torch's
products for many. Others go through the block itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from foresay.encode import cache
from foresay.encode.encoder import State, advance
from foresay.kernels.switch import in_graph, plain

if TYPE_CHECKING:
    from foresay.encode.block import Block, Memory
    from foresay.encode.transformer import Transformer

Look = Callable[[int, Tensor, Tensor, Tensor], Tensor]  # layer, q (B, N, d), k and v (B, G, d) -> (B, N d)


def can_go_on(x: Tensor) -> bool:
    """Whether this is such a step."""
    return x.is_cuda and x.shape[1] == 1 and not plain() and not torch.is_grad_enabled()


def go_on(
    encoder: Transformer, x: Tensor, position: Tensor, mask: Tensor | None, state: State, window: int,
    memories: Sequence[Memory | None],
) -> tuple[list[Tensor], State]:  # fmt: skip
    """Every block's output, and the state after."""
    from foresay.kernels.attend_triton import attend_and_keep  # there is no Triton without a GPU
    from foresay.kernels.thin_triton import few

    if not in_graph():
        state = cache.with_room(state, 1)
    slot, turns = state["used"][:1], encoder.positions.turns(position)
    state["at"].index_copy_(1, slot, position if mask is None else position.where(mask, cache.EMPTY))
    state["rows"].index_copy_(1, slot, torch.arange(len(x), device=x.device)[:, None])

    heads = encoder.blocks[0].attention.heads
    arrived = torch.zeros(len(encoder.blocks), len(x), heads, dtype=torch.int32, device=x.device)

    def look(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scale = encoder.blocks[layer].attention.scale
        own = (state[str(layer)], state, position[:, 0], scale, window, arrived[layer])
        return attend_and_keep(q, k, v, *own).flatten(1)

    if turns is not None or memories[0] is not None or not is_usual(encoder, x):
        outputs = _through_blocks(encoder, x, turns, look, memories)
    elif few(x):
        outputs = [y[:, None] for y in _few(encoder, x[:, 0].contiguous(), look)]
    else:
        outputs = [y[:, None] for y in _many(encoder, x[:, 0].contiguous(), look)]
    return outputs, state | {"position": advance(state["position"], 1, mask), "used": state["used"] + 1}


def is_usual(encoder: Transformer, x: Tensor) -> bool:
    """Whether all blocks are as GPT-2's."""
    block = encoder.blocks[0]
    normed = all(isinstance(norm, nn.LayerNorm) and norm.bias is not None for norm in (encoder.norm, block.norm_dense))
    alike = block.pre and not block.dense.gated and block.attention.join is not None and encoder.below is None
    return normed and alike and block.dense.rise.weight.dtype == x.dtype and not torch.is_autocast_enabled("cuda")


def _through_blocks(
    encoder: Transformer, x: Tensor, turns: Tensor | None, look: Look, memories: Sequence[Memory | None]
) -> list[Tensor]:
    stream = [x]
    for layer, block in enumerate(encoder.blocks):
        x = encoder.input_of(layer, stream)
        q, k, v = block.look(x, turns)
        mixed = block.attention.joined(look(layer, q[:, :, 0], k[:, 0], v[:, 0])[:, None])
        stream.append(block.finish(block.add(x, block.norm_attention, mixed), memories[layer]))
    return stream[1:]


def _few(encoder: Transformer, x: Tensor, look: Look) -> list[Tensor]:
    from foresay.kernels.thin_triton import thin_linear

    outputs = []
    for layer, block in enumerate(encoder.blocks):
        parts: Any = block
        mixed = look(layer, *_parted(block, thin_linear(x, parts.attention.qkv, parts.norm_attention)))
        x = thin_linear(mixed, parts.attention.join, residual=x)
        hidden = thin_linear(x, block.dense.rise, parts.norm_dense, block.dense.activation)
        x = thin_linear(hidden, block.dense.fall, residual=x)
        outputs.append(x)
    return outputs


def _many(encoder: Transformer, x: Tensor, look: Look) -> list[Tensor]:
    from foresay.kernels.thin_triton import add_norm, product, several

    thin, first = several(x), cast("Any", encoder.blocks[0])
    outputs, normed = [], add_norm(x, None, first.norm_attention)[1]
    for layer, block in enumerate(encoder.blocks):
        parts: Any = block
        last = layer + 1 == len(encoder.blocks)
        after: Any = block.norm_dense if last else encoder.blocks[layer + 1].norm_attention  # the last is not used
        qkv, join, dense = parts.attention.qkv, parts.attention.join, block.dense
        mixed = look(layer, *_parted(block, product(normed, qkv) if thin else qkv(normed)))
        x, normed = add_norm(x, product(mixed, join, parts=True) if thin else join(mixed), parts.norm_dense)
        if thin:
            y = product(product(normed, dense.rise, dense.activation), dense.fall, parts=True)
        else:
            y = dense(normed)
        x, normed = add_norm(x, y, after)
        outputs.append(x)
    return outputs


def _parted(block: Block, qkv: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    attention = block.attention
    q, k, v = qkv.split(attention.shares, 1)
    k, v = (t.unflatten(1, (attention.groups, -1)) for t in (k, v))
    return q.unflatten(1, (attention.heads, -1)), k, v
