"""Pieces of work that do not need each other: a GPU does them at a time, a CPU one after the other.

Each but the first goes to a stream of its own, forked from the current one and joined to it again, which a CUDA graph
records too; autograd goes back on the same streams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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


def overlap_all(calls: Sequence[Callable[[], None]], device: torch.device) -> None:
    """Makes all calls; what they change was made before."""
    if device.type != "cuda" or plain() or len(calls) == 1:
        for call in calls:
            call()
        return
    here, sides = torch.cuda.current_stream(device), [_side(device, number) for number in range(len(calls) - 1)]
    for side, call in zip(sides, calls[1:], strict=True):
        side.wait_stream(here)
        with torch.cuda.stream(side):
            call()
    calls[0]()
    for side in sides:
        here.wait_stream(side)


@lru_cache(maxsize=64)
def _side(device: torch.device, number: int = 0) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)
