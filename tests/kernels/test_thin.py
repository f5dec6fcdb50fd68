"""The linear layer for few rows against torch's own operations, on a GPU."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")]


@pytest.mark.parametrize("rows", [1, 3, 8])
@pytest.mark.parametrize(
    ("normed", "act", "added"), [(True, "gelu", False), (False, "none", True), (True, "relu", True)]
)
@pytest.mark.parametrize(("width", "outs"), [(48, 30), (768, 2304), (300, 50)])
def test_equals_torch(rows, normed, act, added, width, outs):
    from foresay.kernels.thin_triton import thin_linear

    torch.manual_seed(1)
    layer, norm = nn.Linear(width, outs).cuda(), nn.LayerNorm(width).cuda()
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    x, residual = torch.randn(rows, width, device="cuda"), torch.randn(rows, outs, device="cuda")
    with torch.no_grad():
        found = thin_linear(x, layer, norm if normed else None, act, residual if added else None)
        layer, norm, x, residual = layer.double(), norm.double(), x.double(), residual.double()
        y = layer(norm(x) if normed else x)
        y = {"gelu": F.gelu, "relu": F.relu, "none": lambda z: z}[act](y)
    torch.testing.assert_close(found.double(), y + residual if added else y, rtol=1e-5, atol=1e-5)


def test_gelu_by_tanh():
    from foresay.kernels.thin_triton import thin_linear

    layer, x = nn.Linear(16, 24).cuda(), torch.randn(2, 16, device="cuda")
    with torch.no_grad():
        expected = F.gelu(layer.double()(x.double()), approximate="tanh")
        torch.testing.assert_close(
            thin_linear(x, layer.float(), None, "gelu-tanh").double(), expected, rtol=1e-5, atol=1e-5
        )


@pytest.mark.parametrize("added", [True, False])
def test_add_norm(added):
    from foresay.kernels.thin_triton import add_norm

    norm, x, y = nn.LayerNorm(30).cuda(), torch.randn(3, 30, device="cuda"), torch.randn(3, 30, device="cuda")
    nn.init.normal_(norm.weight)
    with torch.no_grad():
        total, normed = add_norm(x, y if added else None, norm)
        expected = x + y if added else x
        torch.testing.assert_close(total, expected)
        torch.testing.assert_close(normed, norm(expected), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rows", [2, 5, 17, 64])
@pytest.mark.parametrize(("width", "outs"), [(48, 32), (768, 2304), (1000, 768), (3072, 768)])
def test_products_of_half_precision(rows, width, outs):
    """No further from the exact values than torch's own, up to a small factor: alone, added, and normed after that."""
    from foresay.kernels.thin_triton import PIECE, added, product

    torch.manual_seed(1)
    layer, back, norm = nn.Linear(width, outs), nn.Linear(outs, 96), nn.LayerNorm(outs)
    nn.init.normal_(norm.weight, 1.0)
    x, stream = torch.randn(rows, width).cuda().bfloat16(), (3 + 4 * torch.randn(rows, outs)).cuda().bfloat16()
    layer, back, norm = (one.cuda().bfloat16() for one in (layer, back, norm))
    arrived = torch.zeros(outs // 32, dtype=torch.int32, device="cuda")
    with torch.no_grad():
        sums = added(x, layer, stream, arrived)
        found = [product(x, layer, "gelu-tanh"), sums.x]
        usual = [F.gelu(layer(x), approximate="tanh"), stream + layer(x)]
        exact = [F.gelu(layer.double()(x.double()), approximate="tanh"), stream + layer(x.double())]
        if outs <= 3 * PIECE:
            found.append(product(sums, back, norm=norm))
            usual.append(back(norm(sums.x)))
            exact.append(back.double()(norm.double()(sums.x.double())))
    for one, other, truth in zip(found, usual, exact, strict=True):
        error, usual_error = ((each.double() - truth).square().mean().sqrt() for each in (one, other))
        assert error < 1.2 * usual_error


@pytest.mark.parametrize("rows", [1, 3, 40])
@pytest.mark.parametrize("learnt", [True, False])
def test_entering(rows, learnt):
    from foresay.kernels.enter_triton import enter

    torch.manual_seed(1)
    norm, table, x = nn.LayerNorm(96).cuda(), torch.randn(9, 96).cuda(), torch.randn(rows, 96).cuda()
    numbers = torch.arange(rows).cuda()
    state = {"position": 4 + numbers % 5, "begun": numbers % 3, "used": torch.full_like(numbers, 5)}
    state |= {"at": torch.full((rows, 7), -1).cuda(), "rows": torch.zeros(rows, 7, dtype=torch.long).cuda()}
    with torch.no_grad():
        made = enter(x, table if learnt else None, norm, state, 70)
        expected = x + table[state["position"] - state["begun"]] if learnt else x
        torch.testing.assert_close(made.normed, norm(expected), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(made.stream, expected)
    blocks = expected.view(rows, 3, 32).transpose(0, 1)
    torch.testing.assert_close(made.seen[..., 0], blocks.mean(2), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(made.seen[..., 1], 32 * blocks.var(2, unbiased=False), rtol=1e-4, atol=1e-4)
    assert torch.equal(made.position, state["position"] + 1) and torch.equal(made.used, state["used"] + 1)
    assert torch.equal(state["at"][:, 5], state["position"]) and torch.equal(state["rows"][:, 5], numbers)
    assert (state["at"][:, 6] == -1).all() and len(made.counters) >= 70 and not made.counters.any()
