"""Peak memory: what a piece of work takes beyond what was held before it."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
import torch

from foresay.train.memory import PeakMemory

CPU = torch.device("cpu")
SIZE = 64 << 20


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux lets a peak be set back")
def test_the_peak_is_seen_after_it_has_gone() -> None:
    held = torch.ones(SIZE // 4)  # before: not counted
    memory = PeakMemory(CPU)
    assert memory.bytes() < SIZE // 4
    passing = torch.ones(SIZE // 4)
    del passing
    assert 0.9 * SIZE < memory.bytes() < 1.5 * SIZE
    assert PeakMemory(CPU).bytes() < SIZE // 4  # set back
    del held


def test_elsewhere_it_is_the_peak_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "write_text", refuse)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert peak <= PeakMemory(CPU).bytes() < 2 * peak


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_peak_of_a_gpu() -> None:
    memory = PeakMemory(torch.device("cuda"))
    passing = torch.ones(SIZE // 4, device="cuda")
    del passing
    assert SIZE <= memory.bytes() < 2 * SIZE
