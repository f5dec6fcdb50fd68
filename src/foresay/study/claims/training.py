"""How the small networks of the claims are trained: Adam, the gradient's norm held to 1."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from foresay.train.clip import ByNorm
from foresay.train.optimise import Adam


def train(model: nn.Module, loss: Callable[[int], Tensor], updates: int, rate: float) -> None:
    """So many updates; `loss(update)` draws a batch and gives its loss. The model is left as one that trains."""
    for _ in itertools.islice(updating(model, loss, rate), updates):
        pass


def updating(model: nn.Module, loss: Callable[[int], Tensor], rate: float) -> Iterator[None]:
    """One update for each that is asked for, without end."""
    optimizer, clip = Adam(lr=rate).open(model.train()), ByNorm(limit=1.0)
    for update in itertools.count():
        value = loss(update)
        optimizer.zero_grad()
        value.backward()
        clip.apply(model, update)
        optimizer.step()
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Networks this small learn faster on one core than on two: measured 28 s against 94 s, beside other work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
