"""TensorBoard: every number that goes into `metrics.jsonl`, as events in RUN/tensorboard.

Tags are `train/loss`, `train/lr`, ..., `valid/loss`, `valid/perplexity`, ...; a list has a tag for each of its numbers.
A resumed run purges what it does again: TensorBoard hides the events after the checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from foresay.extras import need

ASKED = "train.tensorboard=true"


def check_tensorboard() -> None:
    """A UserError with the remedy where the library is missing."""
    need("tensorboard", "tensorboard", ASKED)


class Board:
    """Event files in a folder, opened with the first line."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.first: int | None = None  # the step from which on older events are void
        self._writer: Any = None

    def write(self, line: dict[str, Any]) -> None:
        """The numbers of one line of `metrics.jsonl`, flushed: a kill loses none."""
        if self._writer is None:
            writer = need("torch.utils.tensorboard", "tensorboard", ASKED).SummaryWriter
            self._writer = writer(str(self.folder), purge_step=self.first)
        for tag, value in numbers(line):
            self._writer.add_scalar(tag, value, line["step"])
        self._writer.flush()

    def purge(self, step: int) -> None:
        """What was written after `step` is void: it will be done again. Before the first line only."""
        assert self._writer is None
        if self.folder.exists():
            self.first = step + 1

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def numbers(line: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """`{"step": 3, "valid_loss": 1.5}` -> ("valid/loss", 1.5); what is no number, or null, is left out."""
    for name, value in line.items():
        tag = f"valid/{name.removeprefix('valid_')}" if name.startswith("valid_") else f"train/{name}"
        for place, number in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if name != "step" and isinstance(number, (int, float)):
                yield (tag if place is None else f"{tag}/{place}"), float(number)
