"""Kernels that slide over the letters of words, and the largest answer of each (embed/characters.py), as one product.

    m_k = max_t (K_k [c_t; ...; c_{t+w-1}] + b_k)        t a letter, w of the word's letters from there on

On a GPU cuDNN plans a convolution anew for each number of words it has not met, 1.5 ms, and turns x and y over on the
way. Windows written out and multiplied need neither. Where no window may begin, one more input is 1, which counts by
-HOLD: it is never the largest. The max's gradient goes to one place, of equals too.

c (N, W, L) zero beyond each word, lengths (N,) -> m (N, K)
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.kernels.thin import product

HOLD = 1e4  # beyond any answer, and a number in half precision
EIGHT = 8  # a GPU multiplies rows of half precision by so many numbers at a time


def largest(convolution: nn.Conv1d, c: Tensor, lengths: Tensor) -> Tensor:
    """Of each of the convolution's kernels."""
    wide = convolution.kernel_size[0]
    windows = F.pad(c, (0, 0, 0, wide - 1)).unfold(1, wide, 1).flatten(2)  # (N, W, L w)
    outside = torch.arange(c.shape[1], device=c.device) > (lengths - wide).clamp(min=0)[:, None]
    more = EIGHT - windows.shape[2] % EIGHT
    x = torch.cat([windows, outside[..., None].to(c.dtype).expand(-1, -1, more)], 2)
    weight = convolution.weight.flatten(1)
    shut = weight.new_zeros(len(weight), more)
    shut[:, 0] = -HOLD
    return product(x, torch.cat([weight, shut], 1), convolution.bias).max(1).values
