"""The last operations of a step against torch's own, on a GPU."""

from __future__ import annotations

import pytest
import torch

from tests.gpu import BY_KERNELS, GPU, HALF

pytestmark = BY_KERNELS
SHAPES = [(1, 7), (3, 3000), (2, 1024), (32, 50304)]


@pytest.mark.parametrize(("rows", "width"), SHAPES)
def test_log_softmax(rows, width):
    from foresay.kernels.choose_triton import log_softmax

    z = torch.randn(rows, width, generator=torch.Generator().manual_seed(1)).to(GPU, HALF)
    z[0, : width // 2] = -torch.inf  # pieces of nothing else too
    torch.testing.assert_close(log_softmax(z), z.float().log_softmax(1), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("rows", "width"), SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_argmax_takes_the_lowest_of_equals(rows, width, dtype):
    from foresay.kernels.choose_triton import argmax

    values = torch.randn(rows, width, generator=torch.Generator().manual_seed(1)).to(dtype)
    values[0, -1] = values[0].max()
    expected = torch.tensor([int((row == row.max()).nonzero()[0]) for row in values])
    places, found = argmax(values.to(GPU))
    assert torch.equal(places.cpu(), expected) and torch.equal(found.cpu(), values.amax(1))
    places, found = argmax(torch.full((2, width), -torch.inf, dtype=dtype, device=GPU))
    assert places.tolist() == [0, 0] and (found == -torch.inf).all()


@pytest.mark.parametrize("asked", [True, False])
def test_note(asked):
    """By row: goes on; unclear; nothing can follow; <stop>; had ended before."""
    from foresay.kernels.choose_triton import note

    chosen, logs = torch.tensor([3, 7, 7, 1, 9]), torch.zeros(5, 10)
    logs[2, 7] = -torch.inf
    clear, alive = torch.tensor([1, 0, 1, 1, 0]).bool(), torch.tensor([1, 1, 1, 1, 0]).bool()
    sure, sizes = torch.ones(5, dtype=torch.bool), torch.tensor([1, 2, 3, 0, 2])
    texts, last, step = torch.zeros(5, 4, dtype=torch.long), torch.zeros(5, dtype=torch.long), torch.tensor(3)
    given = [t.to(GPU) for t in (chosen, logs, clear, alive, sure, texts, sizes, last, step)]
    if not asked:
        given[2] = None
    note(*given, 1, 0)
    alive, sure, texts, sizes, last, step = (t.tolist() for t in given[3:])
    assert alive == [True, True, False, False, False] and sure == [True, not asked, True, True, True]
    assert texts == [[0, 3, 0, 0], [0, 0, 7, 0], [0] * 4, [0] * 4, [0] * 4]
    assert sizes == [2, 3, 3, 0, 2] and last == chosen.tolist() and step == 4
