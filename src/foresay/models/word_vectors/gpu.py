"""Learning on a GPU: the whole text lies there, and each epoch is one sweep over the words that are kept.

The definition is the CPU's: the same stretches, words kept, windows and drawn words (kernels/word_vectors/chance.py);
only the order in which rows change is the GPU's own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foresay.kernels.word_vectors.plan import World
from foresay.models.word_vectors.learn import STRETCH, Course, Epoch, Tell, diverged, mean, said
from foresay.text.tokens import STOP

ALL, STEP = 0xFFFFFFFF, 0x1E3779B9  # as in chance.py
PART = 64  # columns of a row at a time
SWEEP = 1 << 20  # places between two words about progress
WIDEST = 32  # places of a window
PROGRAMS = 264  # places at once, at most; more are not faster (H200: 101 M words/s with 264, 528 and 1056)


def can(world: World) -> bool:
    """Whether the GPU's kernel knows this."""
    plan, trees, spelt = world.plan, len(world.ways.first), len(world.spelt.first)
    return not (plan.outward or plan.subset or trees or spelt) and plan.before + plan.after <= WIDEST


@dataclass(frozen=True)
class Held:
    """What lies on the GPU."""

    words: Tensor
    shares: Tensor
    noise: list[Tensor]
    tables: list[Tensor]


def learn(course: Course, device: torch.device, *, tell: Tell) -> list[Epoch]:
    """Fills the tables."""
    held = Held(
        torch.from_numpy(all_words(course)).to(device),
        torch.from_numpy(course.shares).to(device),
        [torch.from_numpy(table).to(device) for table in course.world.noise],
        [padded(table, device) for table in course.tables],
    )
    epochs, began = [], time.perf_counter()
    for epoch in range(course.epochs):
        found = _sweep(course, held, epoch, lambda done: tell(done, said(epochs, course)))
        if not finite(held.tables):
            raise diverged(course, epoch)
        epochs.append(Epoch(mean([found]), time.perf_counter() - began))
    for mine, table in zip(course.tables, held.tables, strict=True):
        mine[:] = table[:, : mine.shape[1]].cpu().numpy()
    return epochs


def finite(tables: list[Tensor]) -> bool:
    """Whether all rows have lengths that are numbers, as `check_lengths` asks of the CPU's tables."""
    return all(bool(torch.linalg.vector_norm(table, dim=1).isfinite().all()) for table in tables)


def _sweep(course: Course, held: Held, epoch: int, tell: Callable[[float], None]) -> tuple[float, int]:
    """One epoch: the sum of the loss, and of how many predictions."""
    from foresay.kernels.word_vectors.triton_walk import walk_places

    kernel: Any = walk_places
    plan = course.world.plan
    places = kept_places(course, held.words, held.shares, epoch)
    size = len(places["words"])
    losses = torch.zeros(size, dtype=torch.float32, device=held.words.device)
    predictions = torch.zeros(size, dtype=torch.int32, device=held.words.device)
    near = max(16, 1 << (plan.before + plan.after - 1).bit_length())
    targets = max(16, 1 << plan.negatives.bit_length())
    programs = min(course.at_once, PROGRAMS)
    for low in range(0, size, SWEEP):
        high = min(low + SWEEP, size)
        kernel[(programs,)](
            places["words"], places["begins"], places["ends"], places["keys"], places["rates"],
            *held.tables, *held.noise, losses, predictions, low, high, programs, len(held.noise[0]),
            before=plan.before, after=plan.after, dynamic=plan.dynamic, averaged=plan.averaged,
            negatives=plan.negatives, D=held.tables[0].shape[1], NEAR=near, TARGETS=targets, PART=PART,
            num_warps=4,
        )  # fmt: skip
        tell((epoch + high / size) / course.epochs)
    return float(losses.sum(dtype=torch.float64)), int(predictions.sum(dtype=torch.int64))


def all_words(course: Course) -> np.ndarray:
    """The text as int32."""
    found = [course.tokens.slice(at, at + STRETCH).astype(np.int32) for at in range(0, len(course.tokens), STRETCH)]
    return np.concatenate(found)


def padded(table: np.ndarray, device: torch.device) -> Tensor:
    """A table with rows of whole parts."""
    width = -(-table.shape[1] // PART) * PART
    held = torch.zeros(len(table), width, device=device)
    held[:, : table.shape[1]] = torch.from_numpy(table).to(device)
    return held


def kept_places(course: Course, words: Tensor, shares: Tensor, epoch: int) -> dict[str, Tensor]:
    """The words kept in an epoch, where the document (or stretch) of each begins and ends, its key and its rate."""
    places = torch.arange(len(words), device=words.device)
    stretch = places // STRETCH
    of_epoch = folded(
        torch.tensor([course.seed & ALL], device=words.device), torch.tensor([epoch], device=words.device)
    )
    keys = folded(of_epoch, torch.arange(course.stretches, device=words.device))
    zero, one = (torch.full_like(keys, n) for n in (0, 1))
    chance = number(folded(keys, zero)[stretch], places % STRETCH)
    stop = words == STOP
    kept = (chance < shares[words.long()]) & ~stop
    document = torch.cumsum(stop, 0) - stop.long() + stretch  # changes where a document or a stretch ends
    document, own = document[kept], stretch[kept]
    begins = torch.searchsorted(document, document)
    ends = torch.searchsorted(document, document, right=True)
    first = torch.searchsorted(own, own)  # where its stretch begins
    sizes = torch.searchsorted(own, own, right=True) - first
    inside = torch.arange(len(own), device=words.device) - first
    rates = torch.tensor([course.rates(epoch, n) for n in range(course.stretches)], device=words.device)[own]
    return {
        "words": words[kept],
        "begins": begins.int(),
        "ends": ends.int(),
        "keys": hashed(folded(keys, one)[own] ^ hashed(inside)),
        "rates": (rates[:, 0] + (rates[:, 1] - rates[:, 0]) * inside / sizes).float(),
    }


def hashed(x: Tensor) -> Tensor:
    x = x ^ (x >> 16)
    x = (x * 0x21F0AAAD) & ALL
    x = x ^ (x >> 15)
    x = (x * 0x735A2D97) & ALL
    return x ^ (x >> 15)


def number(key: Tensor, n: Tensor) -> Tensor:
    return hashed((key + n * STEP) & ALL)


def folded(key: Tensor, at: Tensor) -> Tensor:
    return hashed((hashed(key & ALL) + at) & ALL)
