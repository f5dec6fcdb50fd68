"""Masked convolutions: which weights there are, and what groups of channels see of each other, by hand."""

import pytest
import torch
import torch.nn.functional as F

from foresay.encode.sight import Grouped, Sight, sees


@pytest.mark.parametrize(
    ("settings", "taps"),
    [
        ({"up": 2, "reach": 2, "mask": "A"}, 12),  # of the 25 of a 5 x 5 kernel those before the middle
        ({"up": 2, "reach": 2, "mask": "B"}, 13),
        ({"up": 0, "reach": 3, "mask": "A"}, 3),
        ({"up": 0, "reach": 3, "mask": "B"}, 4),
        ({"up": 0, "reach": 3, "mask": "A", "channels": 2}, 4),
        ({"up": 1, "reach": 1, "whole": True}, 6),
        ({"up": 0, "reach": 1, "whole": True}, 3),
    ],
)
def test_a_weight_for_each_pixel_that_is_seen(settings, taps):
    """A picture with one bright pixel shows the kernel: it equals a convolution by torch with zeros laid in."""
    torch.manual_seed(1)
    sight = Sight(2, 4, **settings)
    assert sight.weight.shape == (4, taps, 2)
    x = torch.randn(1, 3 + sight.up, 6, 2)
    size, rows = 2 * sight.reach + 1, sight.up + 1
    weight = sight.weight.detach().clone()
    if sight.own is not None:
        weight[:, -1] *= sight.own
    kernel = F.pad(weight, (0, 0, 0, rows * size - taps)).view(4, rows, size, 2).permute(0, 3, 1, 2)
    due = F.conv2d(x.permute(0, 3, 1, 2), kernel, sight.bias, padding=(0, sight.reach))
    torch.testing.assert_close(sight(x), due.permute(0, 2, 3, 1))


def test_one_pixel_equals_the_convolution_there():
    torch.manual_seed(1)
    sight, x = Sight(2, 4, up=1, reach=1), torch.randn(1, 2, 3, 2)
    seen = torch.cat([x[0, 0].flatten(), x[0, 1, :2].flatten()])[None]  # three above, one left, itself
    torch.testing.assert_close(sight.step(seen), sight(x)[:, 0, 1])


def test_groups_before_and_groups_up_to_itself():
    assert sees(3, 3, 3, "A").tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    assert sees(3, 6, 3, "B").tolist() == [[1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0], [1] * 6]
    # both halves of a gate alike; the skips of two layers side by side
    assert sees(4, 2, 2, "B", 2).tolist() == [[1, 0], [1, 1]] * 2
    assert sees(2, 4, 2, "B", 1, 2).tolist() == [[1, 0, 1, 0], [1, 1, 1, 1]]


def test_a_product_by_groups():
    layer = Grouped(4, 2, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.arange(8.0).view(2, 4))
    assert layer(torch.ones(4)).tolist() == [0 + 1, 4 + 5 + 6 + 7]
    assert Grouped(4, 2, 1).sight is None


def test_hidden_weights_are_worked_out_again_when_they_change():
    """Without gradients once for the same weights, whichever way they change."""
    sight, layer = Sight(4, 4, up=0, reach=1, channels=2), Grouped(4, 4, 2)
    for module, x in ((sight, torch.randn(1, 1, 3, 4)), (layer, torch.randn(2, 4))):
        with torch.no_grad():
            first, kept = module(x), module.shown.kept
            assert kept is not None and torch.equal(module(x), first) and module.shown.kept is kept
            module.weight.mul_(2)
            module.bias.zero_()
            torch.testing.assert_close(module(x), 2 * first)
            module.weight = torch.nn.Parameter(3 * module.weight.detach())
            torch.testing.assert_close(module(x), 6 * first)
        torch.testing.assert_close(module(x), 6 * first)  # with gradients
        module.double()
        with torch.inference_mode():
            torch.testing.assert_close(module(x.double()), 6 * first.double(), rtol=1e-5, atol=1e-5)
