"""The loss of symbols that are paths through a tree, its gradient on the way.

    s = h . w_node + b_node              for every inner node on the target's path
    loss += log(1 + exp(-sign s)) / N
    g = -sign sigmoid(-sign s) / N       dh += g w_node,  dw_node += g h,  db_node += g

A CPU finds scores and dh row by row and then adds to the nodes, each thread to its own, in the order of the rows: the
same for any number of threads. Elsewhere, and with FORESAY_PLAIN=1, the plain twin runs.

features (N, H), weight (V-1, H), bias (V-1), targets (N) -> loss ().
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.switch import plain
from foresay.kernels.taken import taken
from foresay.kernels.threads import in_threads, in_turns


@dataclass(frozen=True)
class Paths:
    """Symbol v turns by signs[first[v]:first[v + 1]] at these nodes."""

    first: Tensor  # (V + 1,) int64
    nodes: Tensor  # int64
    signs: Tensor  # float32

    def to(self, device: torch.device) -> Paths:
        return Paths(self.first.to(device), self.nodes.to(device), self.signs.to(device))


def path_loss(features: Tensor, weight: Tensor, bias: Tensor, paths: Paths, targets: Tensor) -> Tensor:
    """The mean of -log P over the rows; 0, with zero gradients, when there are none."""
    if plain() or features.device.type != "cpu" or features.dtype != torch.float32 or weight.dtype != torch.float32:
        return -path_log_prob(features, weight, bias, paths, targets).sum() / max(len(targets), 1)
    if not torch.is_grad_enabled():
        features, weight, bias = features.detach(), weight.detach(), bias.detach()
    return _PathLoss.apply(features, weight, bias, paths, targets)  # pyright: ignore[reportReturnType]


def path_log_prob(features: Tensor, weight: Tensor, bias: Tensor, paths: Paths, targets: Tensor) -> Tensor:
    """log P of each row's target, (N,), by torch's own operations: O(depth) for a row."""
    begins = paths.first[targets]
    lengths = paths.first[targets + 1] - begins
    rows = torch.repeat_interleave(torch.arange(len(targets), device=targets.device), lengths)
    ends = lengths.cumsum(0)
    at = torch.arange(len(rows), device=targets.device) + (begins - (ends - lengths))[rows]
    nodes = paths.nodes[at]
    scores = (taken(features, rows) * taken(weight, nodes)).sum(1) + taken(bias, nodes)
    scores = scores.float() if scores.dtype in (torch.bfloat16, torch.float16) else scores
    turns = F.logsigmoid(paths.signs[at].to(scores.dtype) * scores)
    return scores.new_zeros(len(targets)).index_add(0, rows, turns)


class _PathLoss(torch.autograd.Function):
    """The loss, and what the backward pass will need: the gradients themselves."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, paths: Paths, targets: Tensor) -> Tensor:
        from foresay.kernels import path_loops as loops  # numba takes a second to import

        h, w, b = (t.detach().contiguous().numpy() for t in (features, weight, bias))
        ids, ways = targets.contiguous().numpy(), tuple(t.numpy() for t in (paths.first, paths.nodes, paths.signs))
        begins = np.zeros(len(ids) + 1, np.int64)
        np.cumsum(ways[0][ids + 1] - ways[0][ids], out=begins[1:])
        losses, gradients = np.empty(len(ids)), np.empty(begins[-1], np.float32)
        dh, dw, db = torch.empty_like(features), torch.zeros_like(weight), torch.zeros_like(bias)
        part = np.float32(1 / max(len(ids), 1))
        threads = torch.get_num_threads()
        found = (losses, gradients, dh.numpy())
        in_threads(loops.find, (h, w, b, ways, ids, begins, part, *found), len(ids), threads)
        in_turns(loops.add, (h, ways, ids, begins, gradients, dw.numpy(), db.numpy()), threads)
        ctx.grads = (dh, dw, db)
        return torch.tensor(losses.sum() * part, dtype=torch.float32)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        if ctx.grads is None:
            raise RuntimeError("path_loss runs backward once per forward; FORESAY_PLAIN=1 may run it twice")
        grads, ctx.grads = ctx.grads, None
        if grad_outputs[0] != 1:
            for grad in grads:
                grad.mul_(grad_outputs[0])
        return *grads, None, None
