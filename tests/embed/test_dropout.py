"""Dropout over time: values, shares, and one mask for all steps where it is locked."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresay.embed.dropout import drop

X = torch.randn(3, 5, 400, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("locked", [False, True])
def test_nothing_happens_outside_of_training_or_without_a_share(locked: bool) -> None:
    assert torch.equal(drop(X, 0.5, False, locked=locked), X)
    assert torch.equal(drop(X, 0.0, True, locked=locked), X)


def test_unlocked_it_is_torchs() -> None:
    torch.manual_seed(2)
    ours = drop(X, 0.3, True)
    torch.manual_seed(2)
    assert torch.equal(ours, F.dropout(X, 0.3, True))


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_what_is_kept_is_scaled_up(share: float) -> None:
    torch.manual_seed(3)
    dropped = drop(X, share, True, locked=True)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], X[kept] / (1 - share))
    assert torch.equal(kept, kept[:, :1].expand_as(kept))
    masks = kept[:, 0].float()  # 1200 draws
    assert abs(masks.mean().item() - (1 - share)) < 4 * (share * (1 - share) / masks.numel()) ** 0.5
    assert not torch.equal(masks[0], masks[1])


def test_a_wide_share_drops_all() -> None:
    assert (drop(X, 1 - 1e-7, True, locked=True) == 0).all()
