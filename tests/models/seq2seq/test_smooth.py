"""Label smoothing: the surplus makes the loss that of torch's own, for a softmax and for another output layer."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresay import parts
from foresay.models.seq2seq.smooth import surplus, surplus_of

B, T, H, V = 2, 5, 3, 11
MASK = torch.tensor([[True] * 5, [True, True, False, False, False]])


@pytest.mark.parametrize("mask", [None, MASK])
@pytest.mark.parametrize(
    "output", [{"kind": "softmax"}, {"kind": "softmax", "bias": False}, {"kind": "hierarchical", "tree": "balanced"}]
)
def test_equals_torchs_label_smoothing(output, mask):
    torch.manual_seed(1)
    layer = parts.make("output", output)
    layer.build(H, V)
    layer.double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.add_(torch.randn_like(parameter))
    features, targets = torch.randn(B, T, H, dtype=torch.float64), torch.randint(V, (B, T))
    log_probs = layer.log_probs(features)
    own = targets if mask is None else targets.masked_fill(~mask, -100)
    plain, smoothed = (F.cross_entropy(log_probs.flatten(0, 1), own.flatten(), label_smoothing=e) for e in (0.0, 0.1))
    torch.testing.assert_close(plain + 0.1 * surplus(layer, features, targets, mask), smoothed)
    torch.testing.assert_close(plain + 0.1 * surplus_of(log_probs, targets, mask), smoothed)
