"""A dilated convolution against torch's, and its queue."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresay.encode.taps import Rings, Taps, moved, past_of, ring_of

B, T, D, H = 2, 11, 3, 7


def build(kernel: int = 3, dilation: int = 2, *, causal: bool = True) -> Taps:
    torch.manual_seed(1)
    taps = Taps(D, H, kernel, dilation, causal=causal)
    torch.nn.init.normal_(taps.weight)
    torch.nn.init.normal_(taps.bias)
    return taps.double()


def inputs(steps: int = T) -> torch.Tensor:
    return torch.randn(B, steps, D, dtype=torch.float64)


def by_torch(taps: Taps, x: torch.Tensor, before: int, after: int) -> torch.Tensor:
    weight = taps.weight.view(H, taps.kernel, D).transpose(1, 2)
    wide = F.pad(x.transpose(1, 2), (before, after))
    return F.conv1d(wide, weight, taps.bias, dilation=taps.dilation).transpose(1, 2)


@pytest.mark.parametrize(("kernel", "dilation"), [(2, 1), (3, 2), (4, 5), (2, 40)])
def test_equals_torch(kernel, dilation):
    taps, x = build(kernel, dilation), inputs()
    torch.testing.assert_close(taps(x), by_torch(taps, x, taps.span, 0))


@pytest.mark.parametrize(("kernel", "before", "after"), [(3, 2, 2), (2, 0, 2), (5, 4, 4)])
def test_both_sides_equal_torch(kernel, before, after):
    taps, x = build(kernel, 2, causal=False), inputs()
    torch.testing.assert_close(taps(x), by_torch(taps, x, before, after))


def test_moved():
    x = torch.tensor([[1, 2, 3]])
    found = {offset: moved(x, offset, 9).tolist()[0] for offset in (-4, -2, 0, 1, 5)}
    assert found == {-4: [9, 9, 9], -2: [9, 9, 1], 0: [1, 2, 3], 1: [2, 3, 9], 5: [9, 9, 9]}


@pytest.mark.parametrize("sizes", [[4, 7], [1, 1, 9], [0, 11], [6, 0, 5]])
def test_what_came_before_goes_on(sizes):
    taps, x = build(), inputs()
    past, found = torch.zeros(B, taps.span, D, dtype=torch.float64), []
    for piece in x.split(sizes, 1):
        found.append(taps(piece, past))
        past = taps.last(piece, past, None, None)
    torch.testing.assert_close(torch.cat(found, 1), taps(x))
    assert torch.equal(past, x[:, -taps.span :])


def test_rings_take_one_step_after_another():
    """Of two convolutions; rows stand at different places."""
    taps, position = [build(kernel=3, dilation=2), build(kernel=3, dilation=1)], torch.tensor([3, 6])
    x, past = [inputs(4), inputs(4)], [inputs(one.span) for one in taps]
    rings = torch.cat([ring_of(one, position) for one in past], 1)
    assert torch.equal(past_of(rings[:, :4], position), past[0])
    both = Rings(taps, rings)
    for t in range(4):
        seen, places = both.read(rings, position)
        assert seen.shape == (B, 2, 2, D)
        for number, one in enumerate(taps):
            due = one(x[number][:, : t + 1], past[number])[:, t]
            torch.testing.assert_close(one.step(x[number][:, t], seen[:, number].flatten(1)), due)
        both.write(rings, places, torch.stack([one[:, t] for one in x], 1))
        position = position + 1
    assert torch.equal(past_of(rings[:, :4], position), x[0])
    assert torch.equal(past_of(rings[:, 4:], position), x[1][:, 2:])
