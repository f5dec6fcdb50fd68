"""The small pieces that every task shares."""

from __future__ import annotations

import pytest
import torch

from foresay.models.task import Task, last_real, masked

MASK = torch.tensor([[True, True, False], [True, False, False], [False, False, False]])


def test_last_real():
    features = torch.arange(18.0).view(3, 3, 2)
    before = -torch.ones(3, 2)
    assert last_real(features, before, MASK).tolist() == [[2, 3], [6, 7], [-1, -1]]
    assert last_real(features, before, None).tolist() == [[4, 5], [10, 11], [16, 17]]
    assert last_real(features[:, :0], before, None) is before


def test_masked():
    log_probs = -torch.ones(3, 3)
    assert masked(log_probs, MASK).tolist() == [[-1, -1, 0], [-1, 0, 0], [0, 0, 0]]
    assert masked(log_probs, None) is log_probs


def test_what_a_task_leaves_out_is_named():
    class Half(Task): ...

    with pytest.raises(AssertionError, match="Half has no step"):
        Half().step(torch.zeros(1, 0, dtype=torch.long), {})
    assert Half().device == torch.device("cpu") and Half().size() == 0
