"""Weights laid side by side: the same numbers, in one buffer, whatever other streams do meanwhile."""

from __future__ import annotations

import pytest
import torch

from foresay.kernels.cudnn import lay_side_by_side

H, D = 128, 64


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_what_the_weights_leave_is_not_given_away_before_it_is_read(precision):
    """A second stream lays them, late; meanwhile the first asks for memory of their sizes and writes to it."""
    torch.manual_seed(1)
    shapes, side = [(4 * H, D), (4 * H, H), (4 * H,), (4 * H,)], torch.cuda.Stream()
    first, weights = ([torch.randn(shape, device="cuda").to(precision) for shape in shapes] for _ in range(2))
    due = [weight.clone() for weight in weights]
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        lay_side_by_side(first, "lstm", H)  # what asks the device for memory, and so waits for it, is done once
        del first
        torch.cuda._sleep(200_000_000)
        lay_side_by_side(weights, "lstm", H)
    others = [torch.full(shape, 7.0, device="cuda", dtype=precision) for shape in shapes * 8]
    torch.cuda.synchronize()
    assert len({weight.untyped_storage().data_ptr() for weight in weights}) == 1 and len(others) == 32
    for weight, before in zip(weights, due, strict=True):
        assert torch.equal(weight, before)


def test_elsewhere_they_stay_where_they_are():
    weights = [torch.randn(4, 3), torch.randn(4, 1)]
    places = [weight.data_ptr() for weight in weights]
    lay_side_by_side(weights, "lstm", 1)
    assert [weight.data_ptr() for weight in weights] == places
