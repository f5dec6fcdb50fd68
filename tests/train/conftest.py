"""Fixtures of this folder."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture
def no_onednn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without torch's oneDNN, which dies in a virtual machine that promises AMX and has none."""
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)
