"""The ConvNet for texts against torch's convolution and by hand."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresay.encode.convolution import Convolution
from foresay.errors import UserError


def test_against_torch():
    torch.manual_seed(1)
    kernels = [[1, 2], [2, 3], [3, 4], [4, 1]]
    encoder, x = Convolution(kernels=kernels), torch.randn(2, 6, 5)
    encoder.build(5)
    torch.nn.init.normal_(encoder.bias)
    expected, first = [], 0
    for (width, count), tap in zip(kernels, encoder.taps, strict=True):
        weight = tap.weight.unflatten(0, (width, count)).permute(1, 2, 0)  # torch: (count, D, width)
        before = (width - 1) // 2
        padded = F.pad(x.transpose(1, 2), (before, width - 1 - before))
        expected.append(F.conv1d(padded, weight, encoder.bias[first : first + count]).relu())
        first += count
    torch.testing.assert_close(encoder(x)[0], torch.cat(expected, 1).transpose(1, 2))
    assert encoder.width == 10


def test_by_hand():
    """One kernel of two words, 1 x_t - 2 x_{t+1} - 1: what comes after the end counts as 0."""
    encoder = Convolution(kernels=[[2, 1]])
    encoder.build(1)
    with torch.no_grad():
        encoder.taps[0].weight.copy_(torch.tensor([[1.0], [-2.0]]))
        encoder.bias.fill_(-1.0)
    x = torch.tensor([[[5.0], [1.0], [3.0]]])
    assert encoder(x)[0].flatten().tolist() == [2.0, 0.0, 2.0]
    starts = torch.tensor([[False, True, False]])
    assert encoder(x, starts=starts)[0].flatten().tolist() == [4.0, 0.0, 2.0]  # the next word is another text's


@pytest.mark.parametrize("kernels", [[], [[3]], [[0, 5]], [[3, 0]]])
def test_refusals(kernels):
    with pytest.raises(UserError, match=r"^encoder.kernels=.*; allowed: pairs \[width, how many\], such as"):
        Convolution(kernels=kernels)
