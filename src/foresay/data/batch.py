"""A batch: named fields with fixed meanings, the same for every model (contract 2).

ids     (B, T)  input symbols
frames  (B, T, D)  in place of ids numbers; of series those of the step before, and targets are (B, T, D); NaN is not
                   known; of recordings their frames, and targets (B, U) are what is said, with <pad> on the right
spelt   (B, T)  whose letters to read: a symbol, or V + a row of `characters`; None = as ids
characters (U, W)  the letters of words that the vocabulary does not know (strange.py)
targets (B, T)  what each position should predict
mask    (B, T)  bool, True = real; None = all real; padding is on the right only
starts  (B, T)  bool, True where a packed document begins: state is reset, attention blocked
labels  (B,)    the number of each row's label; (B, C) of 0 and 1 where it may have several
given   (B,)    the number of the label that a row is written for; (B, T) of each step, where a row has several texts
source  (B, S)  what the targets are to be written from, STOP at its end; source_mask as mask
fresh   ()      True when no row goes on from the batch before (the carried state is dropped)
pace    ()      what the learning rate is multiplied with for this batch
alike   ()      how many batches of an epoch have this one's shape, where shapes differ
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

PER_ROW = (
    "ids", "targets", "mask", "starts", "spelt", "frames", "position", "labels", "given", "source", "source_mask",
)  # fmt: skip


@dataclass(frozen=True)
class Batch:
    """Named fields with fixed meanings; a field that a model does not use is None."""

    ids: Tensor | None = None
    targets: Tensor | None = None
    mask: Tensor | None = None
    starts: Tensor | None = None
    spelt: Tensor | None = None
    characters: Tensor | None = None
    frames: Tensor | None = None
    position: Tensor | None = None
    labels: Tensor | None = None
    given: Tensor | None = None
    source: Tensor | None = None
    source_mask: Tensor | None = None
    fresh: bool = True
    pace: float = 1.0
    alike: int | None = None

    def to(self, device: torch.device | str) -> Batch:
        moved: dict[str, Any] = {name: t.to(device, non_blocking=True) for name, t in self.tensors().items()}
        return replace(self, **moved)

    def tensors(self) -> dict[str, Tensor]:
        """The fields that it has, by name."""
        every = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in every.items() if isinstance(value, Tensor)}

    @property
    def height(self) -> int:
        """How many rows it has."""
        return len(next(t for name, t in self.tensors().items() if name in PER_ROW))

    def rows(self, begin: int, end: int) -> Batch:
        """Some of its rows, as wide as they are here; the letters of strange words stay all."""
        cut: dict[str, Any] = {name: t[begin:end] for name, t in self.tensors().items() if name in PER_ROW}
        return replace(self, **cut)

    @property
    def tokens(self) -> int:
        """How many positions are read: real ones; of series those with a number that is known."""
        if self.targets is not None and self.targets.is_floating_point():
            return int((~self.targets.isnan()).any(-1).sum())
        if self.mask is not None:
            return int(self.mask.sum())
        if self.frames is not None:
            return self.frames.shape[0] * self.frames.shape[1]
        field = self.targets if self.targets is not None else self.ids
        return 0 if field is None else field.numel()

    @property
    def weight(self) -> int:
        """How much its mean loss counts among other batches: its rows where each has a label, else its tokens."""
        return self.tokens if self.labels is None else len(self.labels)
