"""Plain gradient descent by hand, what counts as diverged, and shares with their interval."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresay.study import recall
from foresay.study.claims.diverging import LAG, ROWS, descend, explosive, share_of
from foresay.study.dynamics.spectrum import radius, spectrum
from foresay.train.clip import ByNorm


def test_a_step_by_hand():
    one, other = explosive(3, 1.0), explosive(3, 1.0)
    found = descend(one, 3, 1, 0.5, None)
    x, answers = recall.draw(ROWS, LAG, torch.Generator().manual_seed(3))
    loss = F.cross_entropy(other(x), answers)
    grads = torch.autograd.grad(loss, list(other.parameters()))
    assert found.losses == [loss.item()] and found.diverged is None
    for old, grad, new in zip(other.parameters(), grads, one.parameters(), strict=True):
        torch.testing.assert_close(new, old - 0.5 * grad)


def test_a_clipped_step_is_as_long_as_the_limit_says():
    one, other = explosive(3, 2.0), explosive(3, 2.0)
    descend(one, 3, 1, 0.5, ByNorm(limit=0.01))
    moved = [new - old for new, old in zip(one.parameters(), other.parameters(), strict=True)]
    assert torch.cat([each.flatten() for each in moved]).norm().item() == pytest.approx(0.5 * 0.01, rel=1e-3)


def test_what_is_no_number_ends_a_run():
    found = descend(explosive(3, 2.0), 3, 50, 1e30, None)
    assert found.diverged is not None and len(found.losses) == found.diverged + 1 < 50


def test_the_radius_is_as_asked():
    assert radius(spectrum(explosive(1, 1.7).encoder.forwards[0])["new"]) == pytest.approx(1.7, rel=1e-5)


def test_wilsons_interval_by_hand():
    """0 of 20: 0 to z² / (n + z²); half of 20: as wide on either side."""
    none, half = share_of("", 0, 20), share_of("", 10, 20)
    assert (none.value, none.low) == (0, 0) and none.high == pytest.approx(100 * 1.96**2 / (20 + 1.96**2))
    assert half.value == 50 and 50 - half.low == pytest.approx(half.high - 50) == pytest.approx(20.07, abs=0.01)
