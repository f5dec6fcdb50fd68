"""Viterbi over a chain of tags rolled up, for a graph in a file: one operation for any number of steps (crf.py's twin).

    m_t[j] = e_t[j] + max_i (m_{t-1}[i] + A[i, j]),   w_t[j] the i that is best;   then back from the best j of m_T + c

At the first step b stands in the place of m_0 + A. scores e (B, T, K), real (B, T) -> tags (B, T).
"""

from __future__ import annotations

import torch
from torch import Tensor

from foresay.kernels.chain import Chain


def viterbi(scores: Tensor, real: Tensor, chain: Chain) -> Tensor:
    """The tags whose scores and transitions have the greatest sum; any where masked."""
    transitions, begins, ends = (one.clone() for one in chain)

    def onward(
        reached: Tensor, begun: Tensor, now: Tensor, real: Tensor, transitions: Tensor, begins: Tensor
    ) -> list[Tensor]:
        most, where = (reached[:, :, None] + transitions).max(1)
        most = torch.where(begun[:, None], most, begins)
        kept = torch.where(real[:, None], most + now, reached)
        stay = torch.arange(now.shape[1], device=now.device)
        return [kept, begun | real, torch.where((begun & real)[:, None], where, stay)]

    def back(tag: Tensor, where: Tensor) -> list[Tensor]:
        return [where.gather(1, tag[:, None])[:, 0], tag.clone()]

    scan = torch.ops.higher_order.scan
    begun = torch.zeros_like(real[:, 0])
    first, steps = torch.zeros_like(scores[:, 0]), [scores.transpose(0, 1), real.transpose(0, 1)]
    reached, _, came = scan(onward, [first, begun], steps, (transitions, begins))
    _, tags = scan(back, [(reached + ends).argmax(-1)], [came.flip(0)], ())
    return tags.flip(0).transpose(0, 1)
