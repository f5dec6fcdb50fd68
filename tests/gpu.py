"""Where a GPU's kernels are tested: on a GPU, or without one by Triton's interpreter (`make interpreted`).

The interpreter runs a kernel's programs one after the other on a CPU, in numpy: slow, and blind to what goes wrong
between programs that run at once, but each number is computed as the kernel says.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch

INTERPRETED = os.environ.get("TRITON_INTERPRET", "0") == "1"
GPU = "cpu" if INTERPRETED else "cuda"
HALF = torch.float16 if INTERPRETED else torch.bfloat16  # the interpreter cannot multiply matrices of bfloat16

BY_KERNELS = [
    pytest.mark.gpu,
    pytest.mark.interpreted,
    pytest.mark.skipif(not INTERPRETED and not torch.cuda.is_available(), reason="no GPU"),
]


def by_kernels(test: Any) -> Any:
    """Marks a test."""
    for mark in BY_KERNELS:
        test = mark(test)
    return test


def take_gpu_kernels(patch: pytest.MonkeyPatch) -> None:
    """For the interpreter: what a GPU would be given to its kernels is given to them on the CPU."""
    from foresay.decode.beams import Beams
    from foresay.encode import onward
    from foresay.kernels import beam_triton, chain, chain_triton, scan
    from foresay.kernels.recurrent import loop, triton_rows
    from foresay.kernels.scan_triton import sweep_on_gpu
    from foresay.kernels.switch import plain

    def sweep(a: Any, b: Any, history: Any, *, reverse: bool) -> None:
        if len(b):
            sweep_on_gpu(a, b.contiguous(), history, reverse)

    for name in ("log_likelihood", "best", "marginals"):
        patch.setattr(chain, name, getattr(chain_triton, name))
    patch.setattr(scan, "sweep", sweep)
    patch.setattr(loop, "_bind", triton_rows.bind)
    patch.setattr(Beams, "_kernels", lambda beams: None if plain() else beam_triton)
    patch.setattr(onward, "can_go_on", lambda x: x.shape[1] == 1 and not plain() and not torch.is_grad_enabled())
