"""The linear layer for few rows against torch's own operations, on a GPU."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.gpu import BY_KERNELS, GPU, HALF

pytestmark = BY_KERNELS


@pytest.mark.parametrize("rows", [1, 3, 8])
@pytest.mark.parametrize(
    ("normed", "act", "added"), [(True, "gelu", False), (False, "none", True), (True, "relu", True)]
)
@pytest.mark.parametrize(("width", "outs"), [(48, 30), (768, 2304), (300, 50)])
def test_equals_torch(rows, normed, act, added, width, outs):
    from foresay.kernels.thin_triton import thin_linear

    torch.manual_seed(1)
    layer, norm = nn.Linear(width, outs).to(GPU), nn.LayerNorm(width).to(GPU)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    x, residual = torch.randn(rows, width, device=GPU), torch.randn(rows, outs, device=GPU)
    with torch.no_grad():
        found = thin_linear(x, layer, norm if normed else None, act, residual if added else None)
        layer, norm, x, residual = layer.double(), norm.double(), x.double(), residual.double()
        y = layer(norm(x) if normed else x)
        y = {"gelu": F.gelu, "relu": F.relu, "none": lambda z: z}[act](y)
    torch.testing.assert_close(found.double(), y + residual if added else y, rtol=1e-5, atol=1e-5)


def test_gelu_by_tanh():
    from foresay.kernels.thin_triton import thin_linear

    layer, x = nn.Linear(16, 24).to(GPU), torch.randn(2, 16, device=GPU)
    with torch.no_grad():
        expected = F.gelu(layer.double()(x.double()), approximate="tanh")
        torch.testing.assert_close(
            thin_linear(x, layer.float(), None, "gelu-tanh").double(), expected, rtol=1e-5, atol=1e-5
        )


@pytest.mark.parametrize("added", [True, False])
def test_add_norm(added):
    from foresay.kernels.thin_triton import add_norm

    norm, x, y = nn.LayerNorm(30).to(GPU), torch.randn(3, 30, device=GPU), torch.randn(3, 30, device=GPU)
    nn.init.normal_(norm.weight)
    with torch.no_grad():
        total, normed = add_norm(x, y if added else None, norm)
        expected = x + y if added else x
        torch.testing.assert_close(total, expected)
        torch.testing.assert_close(normed, norm(expected), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rows", [2, 5, 17, 64])
@pytest.mark.parametrize(("width", "outs"), [(48, 30), (768, 2304), (1000, 768), (3072, 768)])
def test_product_of_half_precision(rows, width, outs):
    """No further from the exact values than torch's own, up to a small factor; in parts too."""
    from foresay.kernels.thin_triton import add_norm, product

    torch.manual_seed(1)
    layer, norm = nn.Linear(width, outs).to(GPU, HALF), nn.LayerNorm(outs).to(GPU, HALF)
    nn.init.normal_(norm.weight)
    x, stream = torch.randn(rows, width).to(GPU, HALF), torch.randn(rows, outs).to(GPU, HALF)
    with torch.no_grad():
        found = product(x, layer, "gelu-tanh"), *add_norm(stream, product(x, layer, parts=True), norm)
        usual = F.gelu(layer(x), approximate="tanh"), stream + layer(x), norm(stream + layer(x))
        y, norm = layer.double()(x.double()), norm.double()
        exact = F.gelu(y, approximate="tanh"), stream + y, norm(stream + y)
    for one, other, truth in zip(found, usual, exact, strict=True):
        error, usual_error = ((each.double() - truth).square().mean().sqrt() for each in (one, other))
        assert error < 1.2 * usual_error
