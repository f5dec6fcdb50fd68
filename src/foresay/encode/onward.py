"""One step of a Transformer on a GPU, with room in its cache: nothing is asked of the device, so it can be a graph.

Few rows go through blocks as GPT-2's in five kernels each (kernels/thin_triton.py); others through the block itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from foresay.encode import cache
from foresay.encode.block import Block
from foresay.encode.encoder import State, advance
from foresay.kernels.switch import in_graph, plain

if TYPE_CHECKING:
    from foresay.encode.transformer import Transformer

THIN = 8  # rows that go through thin layers


def can_go_on(x: Tensor, mask: Tensor | None) -> bool:
    """Whether this is such a step."""
    return x.is_cuda and x.shape[1] == 1 and not plain() and not torch.is_grad_enabled()


def go_on(
    encoder: Transformer, x: Tensor, position: Tensor, mask: Tensor | None, state: State, window: int
) -> tuple[list[Tensor], State]:
    """Every block's output, and the state after."""
    from foresay.kernels.attend_triton import attend_and_keep  # there is no Triton without a GPU

    if not in_graph():
        state = cache.with_room(state, 1)
    slot, turns = state["used"][:1], encoder.positions.turns(position)
    state["at"].index_copy_(1, slot, position if mask is None else position.where(mask, cache.EMPTY))
    state["rows"].index_copy_(1, slot, torch.arange(len(x), device=x.device)[:, None])
    stream = [x]
    for layer, block in enumerate(encoder.blocks):
        x, held, attention = encoder.input_of(layer, stream), state[str(layer)], block.attention
        thin = turns is None and is_thin(block, x)
        q, k, v = _thin_look(block, x) if thin else _look(block, x, turns)
        mixed = attend_and_keep(q, k, v, held, state, position[:, 0], attention.scale, window).flatten(1)
        if thin:
            x = _thin_finish(block, x, mixed)
        else:
            x = block.finish(block.add(x, block.norm_attention, attention.joined(mixed[:, None])))
        stream.append(x)
    changed = {"position": advance(state["position"], 1, mask), "used": state["used"] + 1}
    return stream[1:], state | changed


def is_thin(block: Block, x: Tensor) -> bool:
    """Whether a block is as GPT-2's, and the rows are few."""
    norms = (block.norm_attention, block.norm_dense)
    usual = all(isinstance(norm, nn.LayerNorm) and norm.bias is not None for norm in norms)
    fits = block.pre and not block.dense.gated and block.attention.join is not None
    same = block.dense.rise.weight.dtype == x.dtype and not torch.is_autocast_enabled("cuda")
    return len(x) <= THIN and usual and fits and same


def _look(block: Block, x: Tensor, turns: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = block.look(x, turns)
    return q[:, :, 0], k[:, 0], v[:, 0]


def _thin_look(block: Block, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    from foresay.kernels.thin_triton import thin_linear

    attention: Any = block.attention
    q, k, v = thin_linear(x[:, 0].contiguous(), attention.qkv, block.norm_attention).split(attention.shares, 1)
    return q.unflatten(1, (attention.heads, -1)), *(t.unflatten(1, (attention.groups, -1)) for t in (k, v))


def _thin_finish(block: Block, x: Tensor, mixed: Tensor) -> Tensor:
    from foresay.kernels.thin_triton import thin_linear

    norm: Any = block.norm_dense
    join: Any = block.attention.join
    y = thin_linear(mixed, join, residual=x[:, 0].contiguous())
    hidden = thin_linear(y, block.dense.rise, norm, block.dense.activation)
    return thin_linear(hidden, block.dense.fall, residual=y)[:, None]
