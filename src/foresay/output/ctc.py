"""Connectionist temporal classification (Graves et al. 2006): P(y | x) of a text whose places in time nobody knows.

    l = _ y_1 _ y_2 _ ... y_U _                 the blank _ before, between and after the symbols, S = 2 U + 1 of them
    P(y | x) = sum of prod_t p_t[a_t] over all a_1 .. a_T that become y: repeats joined first, then blanks left out

    alpha_1[s] = p_1[l_s]  for s = 1, 2, else 0
    alpha_t[s] = p_t[l_s] (alpha_{t-1}[s] + alpha_{t-1}[s-1] + alpha_{t-1}[s-2] if l_s is no blank and no l_{s-2})
    P(y | x)   = alpha_T[S] + alpha_T[S-1]

All in log space. The blank is <pad>, which no text has. torch has a compiled loss of the same values and gradients
(tests/output/test_ctc.py), which runs unless FORESAY_PLAIN=1 or a GPU must be deterministic; what stands here is its
plain twin. A text without symbols is blank all the time; one that needs more steps than there are has P = 0.

log p (B, T, V), each step's sum of p is 1; targets (B, U) with <pad> on the right; sizes (B,) of real steps -> (B,)
"""

from __future__ import annotations

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.kernels.switch import plain
from foresay.text.tokens import PAD

BLANK = PAD
IMPOSSIBLE = -1e9  # in place of -inf, whose sums have no gradient


def log_likelihood(log_p: Tensor, targets: Tensor, sizes: Tensor) -> Tensor:
    """log P(y | x) of each row, (B,)."""
    counts = (targets != BLANK).sum(1)
    if plain() or not targets.shape[1] or (log_p.is_cuda and torch.are_deterministic_algorithms_enabled()):
        return forwards(log_p, targets, sizes, counts)
    return -F.ctc_loss(log_p.transpose(0, 1), targets, sizes, counts, blank=BLANK, reduction="none")


def forwards(log_p: Tensor, targets: Tensor, sizes: Tensor, counts: Tensor) -> Tensor:
    """The same by the equations above."""
    rows, steps = log_p.shape[:2]
    symbols = targets.new_full((rows, 2 * targets.shape[1] + 1), BLANK)
    symbols[:, 1::2] = targets
    skips = F.pad((symbols[:, 2:] != BLANK) & (symbols[:, 2:] != symbols[:, :-2]), (2, 0))[:, : symbols.shape[1]]
    own = log_p.gather(2, symbols[:, None].expand(-1, steps, -1))
    alpha = torch.where(torch.arange(symbols.shape[1], device=log_p.device) < 2, own[:, 0], IMPOSSIBLE)
    for t in range(1, steps):
        one = F.pad(alpha, (1, 0), value=IMPOSSIBLE)[:, :-1]
        two = F.pad(one, (1, 0), value=IMPOSSIBLE)[:, :-1].where(skips, IMPOSSIBLE)
        reached = torch.stack([alpha, one, two]).logsumexp(0) + own[:, t]
        alpha = reached.where((t < sizes)[:, None], alpha)
    last = alpha.gather(1, 2 * counts[:, None])[:, 0]
    before = alpha.gather(1, (2 * counts[:, None] - 1).clamp(min=0))[:, 0].where(counts > 0, IMPOSSIBLE)
    found = torch.logaddexp(last, before)
    return found.masked_fill(found < IMPOSSIBLE / 2, -torch.inf)


def needed(targets: Tensor) -> Tensor:
    """The fewest steps that each row's text can take, (B,): its symbols, and a blank between two alike."""
    real = targets != BLANK
    return real.sum(1) + (real[:, 1:] & (targets[:, 1:] == targets[:, :-1])).sum(1)


@torch.no_grad()
def best_path(log_p: Tensor, sizes: Tensor) -> list[list[int]]:
    """The symbols of the one likeliest alignment of each row, which need not be the likeliest text."""
    return [joined(row[:size]) for row, size in zip(log_p.argmax(-1).tolist(), sizes.tolist(), strict=True)]


def joined(alignment: list[int]) -> list[int]:
    """A symbol a step -> a text: repeats joined, blanks left out."""
    return [now for was, now in pairwise([BLANK, *alignment]) if now not in (was, BLANK)]
