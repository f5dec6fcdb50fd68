"""Windows over letters as one product against the convolution: values and gradients, in float64."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresay.embed import characters
from foresay.kernels import windows

LENGTHS = torch.tensor([2, 11, 1, 7, 4])  # shorter than a kernel, too


@pytest.mark.parametrize("wide", [1, 3, 4, 11])
def test_equals_the_convolution(wide):
    torch.manual_seed(1)
    convolution = nn.Conv1d(3, 7, wide).double()
    real = torch.arange(11) < LENGTHS[:, None]
    c = torch.randn(5, 11, 3, dtype=torch.float64) * real[..., None]
    found = []
    for largest in (characters.largest, windows.largest):
        x = c.clone().requires_grad_()
        m = largest(convolution, x, LENGTHS)
        found.append([m, *torch.autograd.grad(m.square().sum(), [x, *convolution.parameters()])])
    torch.testing.assert_close(found[1], found[0])
    assert found[0][0].abs().min() > 0


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_on_a_gpu(dtype):
    """Of float32 to what TF32 leaves, 3e-3; of bfloat16 to 3e-2."""
    torch.manual_seed(1)
    convolution = nn.Conv1d(16, 32, 3)
    c = torch.randn(5, 11, 16) * (torch.arange(11) < LENGTHS[:, None])[..., None]
    expected = characters.largest(convolution, c, LENGTHS)
    with torch.autocast("cuda", dtype, enabled=dtype != torch.float32):
        found = windows.largest(convolution.cuda(), c.cuda(), LENGTHS.cuda())
    assert found.dtype == dtype
    tolerance = 3e-3 if dtype == torch.float32 else 3e-2
    torch.testing.assert_close(found.float().cpu(), expected, atol=tolerance, rtol=tolerance)
