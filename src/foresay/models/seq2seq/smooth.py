"""Label smoothing: the target has probability 1 - e, and e is spread evenly over all V symbols (Szegedy et al. 2016).

    -(1 - e) log P(w) - e / V sum_v log P(v)  =  -log P(w) + e (s_w - mean_v s_v)

The right side, with scores s = W h + b of a softmax, needs no row of V numbers: the mean score is that of the mean row.
Other output layers give their log P, as scores whose sum of exponentials is 1.
"""

from __future__ import annotations

from torch import Tensor

from foresay.output.output import Output
from foresay.output.rows import full, mean_over
from foresay.output.softmax import Softmax


def surplus(output: Output, features: Tensor, targets: Tensor, mask: Tensor | None) -> Tensor:
    """The mean of s_w - mean_v s_v over the real positions: features (B, T, H), targets (B, T) -> ()"""
    if not isinstance(output, Softmax):
        return surplus_of(output.log_probs(features), targets, mask)
    h = output.inner(features).flatten(0, -2)
    mean = full(h @ output.weight.mean(0))
    mean = mean if output.bias is None else mean + output.bias.mean()
    return mean_over(output.score_own(h, targets.flatten()) - mean, mask)


def surplus_of(log_probs: Tensor, targets: Tensor, mask: Tensor | None) -> Tensor:
    """The same of log P (B, T, V)."""
    own = log_probs.gather(-1, targets[..., None])[..., 0]
    return mean_over((own - log_probs.mean(-1)).flatten(), mask)
