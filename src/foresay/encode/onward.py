"""One step of a Transformer on a GPU, with room in its cache: nothing is asked of the device, so it can be a graph.

Blocks as GPT-2's go through kernels of their own: five a block for one row, seven for several, and more of torch's
products for many. Others, and turned queries and keys, go through the block itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from foresay.embed.positions import Learnt, Rotary
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
    """Every block's output, the last one normed, and the state after; x has its positions already."""
    state = _with_a_slot(state)
    slot, turns = state["used"][:1], encoder.positions.turns(position)
    state["at"].index_copy_(1, slot, position if mask is None else position.where(mask, cache.EMPTY))
    state["rows"].index_copy_(1, slot, torch.arange(len(x), device=x.device)[:, None])
    heads = encoder.blocks[0].attention.heads
    arrived = torch.zeros(len(encoder.blocks), len(x), heads, dtype=torch.int32, device=x.device)
    look, stream = _looking(encoder, state, position[:, 0], window, arrived), [x]
    for layer, block in enumerate(encoder.blocks):
        x = encoder.input_of(layer, stream)
        q, k, v = block.look(x, turns)
        mixed = block.attention.joined(look(layer, q[:, :, 0], k[:, 0], v[:, 0])[:, None])
        stream.append(block.finish(block.add(x, block.norm_attention, mixed), memories[layer]))
    outputs = [*stream[1:-1], encoder.norm(stream[-1])]
    return outputs, state | {"position": advance(state["position"], 1, mask), "used": state["used"] + 1}


def is_usual(encoder: Transformer, x: Tensor) -> bool:
    """Whether all blocks are as GPT-2's, for a step that can go on."""
    block = encoder.blocks[0]
    normed = all(isinstance(norm, nn.LayerNorm) and norm.bias is not None for norm in (encoder.norm, block.norm_dense))
    alike = block.pre and not block.dense.gated and block.attention.join is not None and encoder.below is None
    same = block.dense.rise.weight.dtype == x.dtype and not torch.is_autocast_enabled("cuda")
    return normed and alike and same and not isinstance(encoder.positions, Rotary)


def step(encoder: Transformer, x: Tensor, state: State, window: int) -> tuple[list[Tensor], State]:
    """As `go_on`, of usual blocks, by kernels of their own; x (B, 1, H) without its positions."""
    from foresay.kernels.enter_triton import enter  # there is no Triton without a GPU
    from foresay.kernels.thin_triton import few

    state, first = _with_a_slot(state), cast("Any", encoder.blocks[0])
    table, heads, x = None, first.attention.heads, encoder.widen(x)
    if isinstance(encoder.positions, Learnt):
        table = encoder.positions.table
    else:
        x = x + encoder.positions((state["position"] - state["begun"])[:, None]).to(x.dtype)
    made = enter(x[:, 0].contiguous(), table, first.norm_attention, state, len(encoder.blocks), heads)
    look = _looking(encoder, state, state["position"], window, made.arrived)
    outputs = (_few if few(made.stream) else _many)(encoder, made.stream, made.normed, look)
    return [y[:, None] for y in outputs], state | {"position": made.position, "used": made.used}


def _with_a_slot(state: State) -> State:
    return state if in_graph() else cache.with_room(state, 1)


def _looking(encoder: Transformer, state: State, position: Tensor, window: int, arrived: Tensor) -> Look:
    from foresay.kernels.attend_triton import attend_and_keep  # there is no Triton without a GPU

    def look(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scale = encoder.blocks[layer].attention.scale
        own = (state[str(layer)], state, position, scale, window, arrived[layer])
        return attend_and_keep(q, k, v, *own).flatten(1)

    return look


def _few(encoder: Transformer, x: Tensor, normed: Tensor, look: Look) -> list[Tensor]:
    from foresay.kernels.thin_triton import add_norm, thin_linear

    outputs, norm = [], None  # the first block's input is normed already
    for layer, block in enumerate(encoder.blocks):
        parts: Any = block
        mixed = look(layer, *_parted(block, thin_linear(normed if norm is None else x, parts.attention.qkv, norm)))
        x = thin_linear(mixed, parts.attention.join, residual=x)
        hidden = thin_linear(x, block.dense.rise, parts.norm_dense, block.dense.activation)
        x = thin_linear(hidden, block.dense.fall, residual=x)
        outputs.append(x)
        norm = None if layer + 1 == len(encoder.blocks) else cast("Any", encoder.blocks[layer + 1]).norm_attention
    return [*outputs[:-1], add_norm(x, None, cast("Any", encoder.norm))[1]]


def _many(encoder: Transformer, x: Tensor, normed: Tensor, look: Look) -> list[Tensor]:
    from foresay.kernels.thin_triton import add_norm, product, several

    thin, outputs = several(x), []
    for layer, block in enumerate(encoder.blocks):
        parts: Any = block
        last = layer + 1 == len(encoder.blocks)
        after: Any = encoder.norm if last else encoder.blocks[layer + 1].norm_attention
        qkv, join, dense = parts.attention.qkv, parts.attention.join, block.dense
        mixed = look(layer, *_parted(block, product(normed, qkv) if thin else qkv(normed)))
        x, normed = add_norm(x, product(mixed, join, parts=True) if thin else join(mixed), parts.norm_dense)
        if thin:
            y = product(product(normed, dense.rise, dense.activation), dense.fall, parts=True)
        else:
            y = dense(normed)
        x, normed = add_norm(x, y, after)
        outputs.append(x)
    return [*outputs[:-1], normed]


def _parted(block: Block, qkv: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    attention = block.attention
    q, k, v = qkv.split(attention.shares, 1)
    k, v = (t.unflatten(1, (attention.groups, -1)) for t in (k, v))
    return q.unflatten(1, (attention.heads, -1)), k, v
