"""One step through all blocks of a Transformer on a CPU, in one call (blocks_loops.py); FORESAY_PLAIN=1 goes without.

For blocks as GPT-2's: pre-norm, LayerNorm, no gate, an output product; positions of any kind.

x (B, H) -> of every block its output (B, H).
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from foresay.kernels.switch import compiles, plain
from foresay.kernels.thin import MOST, Loops

LINES = 16  # numbers of a vector; every width must be a multiple
_usual: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()  # what is known of the blocks of a model


def can_step(blocks: Any, x: Tensor) -> bool:
    """Whether this is such a step: x (B, 1, H), float32, no gradients."""
    if torch.is_grad_enabled() or x.device.type != "cpu" or x.dtype != torch.float32 or len(x) > MOST:
        return False
    if blocks not in _usual:
        _usual[blocks] = _is_usual(blocks[0])
    return _usual[blocks] and blocks[0].attention.qkv.weight.dtype == torch.float32 and compiles() and not plain()


def _is_usual(block: Any) -> bool:
    """Whether it is made as GPT-2's, of widths that fill vectors."""
    own, dense = block.attention, block.dense
    widths = (dense.rise.in_features, own.heads * own.values, dense.fall.in_features)
    usual = block.pre and not dense.gated and own.join is not None and block.source is None
    normed = isinstance(block.norm_dense, nn.LayerNorm) and block.norm_dense.bias is not None
    return usual and normed and own.qkv.bias is not None and not any(width % LINES for width in widths)


def step(
    blocks: Any, x: Tensor, caches: list[dict[str, Tensor]], state: dict[str, Any], begun: Tensor, position: Tensor,
    end: int, window: int, turns: Tensor | None,
) -> list[Tensor]:  # fmt: skip
    """x (B, H); keys and values of the newest slot, `end`, are written to the caches; turns (2, B, d/2)."""
    rows, size = x.shape
    own, dense = blocks[0].attention, blocks[0].dense
    hidden, wide, threads = dense.fall.in_features, sum(own.shares), torch.get_num_threads()
    sizes = (threads * size, wide, own.heads * own.values, hidden, size)
    stream, outputs = x.clone(), x.new_empty(len(blocks), rows, size)
    room = x.new_empty(rows * sum(sizes)).split([rows * width for width in sizes])
    small = torch.tensor([blocks[0].norm_dense.eps, own.scale])
    tables = [t.contiguous() for t in (state["rows"], state["at"], begun, position)]
    turns = None if turns is None else turns.contiguous()
    from foresay.kernels.blocks_loops import ACTS

    numbers = (
        len(blocks), rows, size, own.heads, own.groups, own.width, own.values, hidden, ACTS[dense.activation],
        caches[0]["k"].shape[1], end, window,
    )  # fmt: skip
    kept = [stream, *room, outputs, turns, small, *tables]
    given = [*numbers, *(0 if t is None else t.data_ptr() for t in kept)]
    for block, cache_ in zip(blocks, caches, strict=True):
        given += [*_addresses(block), cache_["k"].data_ptr(), cache_["v"].data_ptr()]
    table = (ctypes.c_int64 * len(given))(*given)
    _loops()(ctypes.addressof(table), threaded=True)
    return list(outputs)


def _addresses(block: Any) -> list[int]:
    """Of its weights, in the order of the loops; names that a module searches for take longer than the addresses."""
    modules = block._modules
    own, dense = modules["attention"]._modules, modules["dense"]._modules
    parts = (modules["norm_attention"], own["qkv"], own["join"], modules["norm_dense"], dense["rise"], dense["fall"])
    return [part._parameters[name].data_ptr() for part in parts for name in ("weight", "bias")]


@cache
def _loops() -> Loops:
    return Loops("foresay.kernels.blocks_loops")
