"""Kernels that begin before the one before them has ended (programmatic dependent launch, from Hopper on).

A step of decoding is a hundred kernels of a few microseconds, and a third of that time nothing runs: one kernel ends,
the next begins and asks for its first numbers. A kernel that is launched early fetches what never changes, its weights,
then waits for the one before it, and only after that lets the next begin:

    fetch weights -> after_the_one_before(early) -> read x, compute, write y

So when a kernel begins, at most the one directly before it is still under way: all before that has ended. What those
wrote may be read before the wait too.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]


@triton.jit
def after_the_one_before(early: tl.constexpr) -> None:
    """What follows may read what the kernel before has written."""
    if early:
        tl.extra.cuda.gdc_wait()
        tl.extra.cuda.gdc_launch_dependents()


@cache
def can_begin_early(device: torch.device) -> bool:
    return device.type == "cuda" and torch.cuda.get_device_capability(device)[0] >= 9


def early_on(device: torch.device) -> dict[str, Any]:
    """Arguments of such a launch."""
    return {"early": True, "launch_pdl": True} if can_begin_early(device) else {"early": False}
