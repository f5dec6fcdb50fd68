"""Two pieces of work that do not need each other: a GPU does both at a time, a CPU one after the other.

The second goes to a stream of its own, forked from the current one and joined to it again, which a CUDA graph records
too; autograd goes back on the same two streams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeVar

import torch
from torch import Tensor

from foresay.kernels.switch import plain

_A = TypeVar("_A")
_B = TypeVar("_B")


def overlap(
    one: Callable[[], _A], other: Callable[[], _B], device: torch.device, tensors: Callable[[_B], Iterable[Tensor]]
) -> tuple[_A, _B]:
    """The results of both; `tensors` lists those in the second's result, which the current stream then reads."""
    if device.type != "cuda" or plain():
        return one(), other()
    here, side = torch.cuda.current_stream(device), _side(device)
    side.wait_stream(here)
    with torch.cuda.stream(side):
        second = other()
    first = one()
    here.wait_stream(side)
    for tensor in tensors(second):
        tensor.record_stream(here)
    return first, second


@lru_cache(maxsize=16)
def _side(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)
