"""The settings of the training loop: `train:` in a recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from foresay.data.batches import Batches
from foresay.parts import Count, Size, part
from foresay.train.best import By
from foresay.train.clip import Clip
from foresay.train.optimise import Optimizer


@dataclass(frozen=True)
class Evaluate:
    """When to measure on the validation text, on how many tokens, when to give up (0: never), and what is best."""

    every: Size = 200
    tokens: Size = 200_000
    patience: Count = 0
    best: By = "loss"


@dataclass(frozen=True)
class Save:
    """When to write a checkpoint, how many to keep (the best always is), and whether TensorBoard gets the numbers."""

    every: Size = 200
    keep: Size = 2
    tensorboard: bool = False


@dataclass(frozen=True)
class Compute:
    """How a step is computed: from so many batches, and on a GPU as one CUDA graph; `auto` where batches allow it.

    Of several processes each has all weights (`ddp`), or a share of them (`fsdp`).
    """

    accumulate: Size = 1
    graph: Literal["auto"] | bool = "auto"
    parallel: Literal["ddp", "fsdp"] = "ddp"
    compile: bool = False  # of a Transformer's block, by torch.compile; takes a minute before the first step


@part("train", "loop")
class Loop:
    """Steps of gradient descent, with evaluation, early stopping and checkpoints."""

    part_kind = "train"

    def __init__(
        self,
        steps: Size = 2000,
        batches: Batches | str = "streams",
        optimizer: Optimizer | str = "adamw",
        clip: Clip | str | None = "norm",
        precision: Literal["float32", "bfloat16", "float16"] = "float32",
        compute: Compute = Compute(),  # noqa: B008 - frozen
        evaluate: Evaluate = Evaluate(),  # noqa: B008 - frozen
        save: Save = Save(),  # noqa: B008 - frozen
    ):
        assert isinstance(batches, Batches) and isinstance(optimizer, Optimizer) and not isinstance(clip, str)
        self.steps, self.batches, self.optimizer, self.clip = steps, batches, optimizer, clip
        self.precision: str = precision
        self.accumulate, self.compute, self.evaluate, self.save = compute.accumulate, compute, evaluate, save
