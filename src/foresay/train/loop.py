"""The training loop: one step you can read from top to bottom.

    batches -> loss (gradient only inside the chunk, state carried) -> clip -> step, or skip if not finite

Everything the next step depends on is in the checkpoint (weights, optimiser, carried state, random state,
counters; the data position is the step itself), so that a run killed at any moment and resumed ends with the
same bytes as one left alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.batches import Batches
from foresay.data.loader import Loader
from foresay.data.prepare import Prepared
from foresay.encode.encoder import State, detach, flatten_state, map_state, unflatten_state
from foresay.errors import UserError
from foresay.models.task import Task
from foresay.parts import Count, Size, part
from foresay.train import checkpoint
from foresay.train.average import Averages
from foresay.train.board import Board
from foresay.train.clip import Clip, gradient_norm
from foresay.train.evaluate import evaluate
from foresay.train.optimise import Optimizer, optimizer_tensors, restore_optimizer, set_rate
from foresay.train.progress import Metrics, Watch
from foresay.train.signals import Interrupted, hear_signals
from foresay.train.stall import AFTER, stalled

MOST_SKIPPED = 20  # steps skipped in a row before the run gives up
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True)
class Evaluate:
    """When to measure on the validation text, on how many tokens, and when to give up (0: never)."""

    every: Size = 200
    tokens: Size = 200_000
    patience: Count = 0


@dataclass(frozen=True)
class Save:
    """When to write a checkpoint, how many to keep (the best always is), and whether TensorBoard gets the numbers."""

    every: Size = 200
    keep: Size = 2
    tensorboard: bool = False


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
        accumulate: Size = 1,
        evaluate: Evaluate = Evaluate(),  # noqa: B008 - frozen
        save: Save = Save(),  # noqa: B008 - frozen
    ):
        assert isinstance(batches, Batches) and isinstance(optimizer, Optimizer) and not isinstance(clip, str)
        self.steps, self.batches, self.optimizer, self.clip = steps, batches, optimizer, clip
        self.precision: str = precision
        self.accumulate, self.evaluate, self.save = accumulate, evaluate, save


@dataclass
class Counters:
    """The small numbers of a run that a checkpoint keeps."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    skipped: int = 0
    skipped_in_a_row: int = 0
    best: float | None = None
    best_step: int = 0
    stale: int = 0
    loss_sum: float = 0.0
    loss_steps: int = 0


class Trainer:
    """A model being trained: step by step, with all that must survive a kill."""

    def __init__(self, model: Task, loop: Loop, prepared: Prepared, seed: int, folder: Path, watch: Watch):
        self.model, self.loop, self.prepared, self.folder, self.watch = model, loop, prepared, folder, watch
        self.device = model.device
        self.checkpoints = folder / "checkpoints"
        self.order = loop.batches.open(prepared.train, seed)
        self.optimizer = loop.optimizer.open(model)
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=loop.precision == "float16")
        self.carried: State | None = None
        self.counters = Counters()
        self.averages = Averages(loop.optimizer.average, model) if loop.optimizer.average is not None else None
        self.rate: Callable[[int], float] = lambda step: loop.optimizer.rate(step, loop.steps)
        board = Board(folder / "tensorboard") if loop.save.tensorboard else None
        self.metrics = Metrics(folder / "metrics.jsonl", board)
        torch.manual_seed(seed)

    def run(self) -> None:
        """Trains from the present step to the last one, or until validation stops improving."""
        average = self.loop.optimizer.average
        never = average.never(self.loop.steps) if average is not None else ""
        if never:
            self.watch.note(f"warning: nothing will be averaged: {never}")
        with closing(self.metrics):
            self._run()
            if self.counters.best is None:
                self.evaluate()
        if self.averages is not None and self.averages.count == 0 and not never:
            why = self.averages.average.missed(self.counters.step, self.loop.steps, self.averages.losses)
            self.watch.note(f"warning: nothing was averaged, so the weights themselves are kept: {why}")

    def _run(self) -> None:
        loop, counters = self.loop, self.counters
        first = counters.step * loop.accumulate
        with hear_signals() as received, Loader(self.order, first, loop.batches.workers) as loader:
            while counters.step < loop.steps and not self._stale():
                began = time.perf_counter()
                loss, norm = self.train_step([next(loader)[1] for _ in range(loop.accumulate)])
                counters.seconds += time.perf_counter() - began
                self._report(loss, norm)
                if counters.step % loop.evaluate.every == 0 or counters.step == loop.steps:
                    self.evaluate()
                if counters.step % loop.save.every == 0 or received:
                    self.save()
                if received:
                    raise Interrupted(received[0], counters.step, self.folder)

    def train_step(self, batches: list[Batch]) -> tuple[float, float]:
        """One step over one or more batches; the mean loss and the norm of the gradient."""
        loop, counters = self.loop, self.counters
        self.model.train()
        tokens = [batch.tokens for batch in batches]
        total = torch.zeros((), device=self.device)
        for batch, count in zip(batches, tokens, strict=True):
            with torch.autocast(self.device.type, DTYPES[loop.precision], enabled=loop.precision != "float32"):
                loss, state = self.model.loss(batch.to(self.device), self.carried)
            weight = count / max(sum(tokens), 1)
            self.scaler.scale(loss * weight).backward()
            self.carried = detach(state)
            total += loss.detach() * weight

        set_rate(self.optimizer, self.rate(counters.step))
        self.scaler.unscale_(self.optimizer)
        norm = loop.clip.apply(self.model, counters.step) if loop.clip else gradient_norm(self.model)
        mean, length = torch.stack([total.float(), norm.float()]).tolist()
        if math.isfinite(mean) and math.isfinite(length):
            self.scaler.step(self.optimizer)
            counters.skipped_in_a_row = 0
        else:
            self._skip(mean, length)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        counters.step += 1
        counters.tokens += sum(tokens)
        if self.averages is not None and counters.skipped_in_a_row == 0:
            self.averages.stepped(counters.step, loop.steps)
        return mean, length

    def _skip(self, loss: float, norm: float) -> None:
        """A gradient that is no number is never applied; too many in a row end the run."""
        counters = self.counters
        self.carried = None
        counters.skipped += 1
        counters.skipped_in_a_row += 1
        if counters.skipped == 1:
            self.watch.note(f"step {counters.step + 1}: loss {loss}, gradient norm {norm}: skipped")
        if counters.skipped_in_a_row >= MOST_SKIPPED:
            raise UserError(
                f"loss={loss}, gradient norm={norm} at step {counters.step + 1}, the last of {MOST_SKIPPED} in a row; "
                "both must be finite: start a new run with a lower train.lr or train.clip"
            )

    def _report(self, loss: float, norm: float) -> None:
        counters = self.counters
        if math.isfinite(loss):
            counters.loss_sum += loss
            counters.loss_steps += 1
        every = max(1, min(self.loop.steps // 200, 50))
        if counters.step % every and counters.step != self.loop.steps:
            return
        mean = counters.loss_sum / counters.loss_steps if counters.loss_steps else math.nan
        counters.loss_sum, counters.loss_steps = 0.0, 0
        rate = self.rate(counters.step - 1)
        line = {"step": counters.step, "loss": mean, "lr": rate, "norm": norm, "tokens": counters.tokens}
        line |= {"seconds": round(counters.seconds, 3), "skipped": counters.skipped}
        self.metrics.write(line)
        self.watch.step(counters.step, self.loop.steps, mean, counters.tokens / max(counters.seconds, 1e-9))

    def evaluate(self) -> None:
        """Measures the weights, or their averages, on the validation text; keeps them when they are the best so far."""
        counters, valid = self.counters, self.prepared.valid
        if valid is None:
            return
        with self.averages.in_place() if self.averages is not None else nullcontext():
            measured = evaluate(self.model, self.loop.batches, valid, limit=self.loop.evaluate.tokens)
            line = {"step": counters.step, "seconds": round(counters.seconds, 3)}
            self.metrics.write(line | {f"valid_{name}": value for name, value in measured.as_dict().items()})
            self.watch.evaluated(counters.step, measured)
            loss = measured.loss if math.isfinite(measured.loss) else math.inf
            if counters.best is None or loss < counters.best:
                counters.best, counters.best_step, counters.stale = loss, counters.step, 0
                saved = {"step": counters.step, "valid": measured.as_dict()}
                checkpoint.save_checkpoint(self.checkpoints, "best", {"model": self.model.tensors()}, saved)
            else:
                counters.stale += 1
        if self.averages is not None:
            self.averages.evaluated(loss)
        self._tell_of_stall()

    def _tell_of_stall(self) -> None:
        counters, patience = self.counters, self.loop.evaluate.patience
        if self._stale():
            self.watch.note(
                f"step {counters.step}: stopped, as the last {patience} evaluations brought nothing better than "
                f"step {counters.best_step}, which is kept (train.patience={patience})"
            )
        elif counters.stale == AFTER:
            self.watch.note(stalled(counters.step, counters.best_step, patience, self.metrics.read()))

    def _stale(self) -> bool:
        patience = self.loop.evaluate.patience
        return patience > 0 and self.counters.stale >= patience

    def save(self) -> None:
        """Writes a checkpoint of this step."""
        name = f"{self.counters.step:08d}"
        random = {"cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state(self.device)
        tensors = {
            "model": self.model.tensors(),
            "optimizer": optimizer_tensors(self.optimizer),
            # Copies: two names of a state may share their memory, which a file cannot.
            "carried": flatten_state(map_state(self.carried or {}, Tensor.clone)),
            "random": random,
        }
        if self.averages is not None:
            tensors["averages"] = self.averages.tensors
        state = {
            "counters": asdict(self.counters),
            "scaler": self.scaler.state_dict(),
            "optimizer": self.loop.optimizer.part_name,
            "averages": self.averages.state() if self.averages is not None else None,
        }
        checkpoint.save_checkpoint(self.checkpoints, name, tensors, state)
        checkpoint.point_to_latest(self.checkpoints, name)
        checkpoint.prune(self.checkpoints, self.loop.save.keep)

    def resume(self) -> bool:
        """Goes back to the newest whole checkpoint; False when there is none."""
        checkpoint.sweep(self.checkpoints)
        found = checkpoint.newest(self.checkpoints, self.watch.note)
        if found is None:
            self.metrics.cut(0)
            return False
        path, tensors, state = found
        self.model.restore(self._here(tensors["model"]), str(path))
        try:
            if state["optimizer"] != self.loop.optimizer.part_name:
                raise ValueError(f"its optimizer is {state['optimizer']}")
            restore_optimizer(self.optimizer, tensors["optimizer"])
            if self.averages is not None:
                self.averages.restore(tensors["averages"], state["averages"])
            self.scaler.load_state_dict(state["scaler"])
            self.counters = Counters(**state["counters"])
            self.carried = map_state(unflatten_state(tensors["carried"]), lambda t: t.to(self.device)) or None
            torch.set_rng_state(tensors["random"]["cpu"])
            if self.device.type == "cuda":
                torch.cuda.set_rng_state(tensors["random"]["cuda"], self.device)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise UserError(f"{path} is of another recipe: {error}; use the run's own recipe.yaml") from None
        self.metrics.cut(self.counters.step)
        self._check_best()
        return True

    def _check_best(self) -> None:
        """The best weights so far must be whole; when they are not, later ones take their place."""
        if self.counters.best is None:
            return
        try:
            checkpoint.load_checkpoint(self.checkpoints / "best")
        except UserError as error:
            self.watch.note(f"{error}; the best from here on is kept")
            self.counters.best = None

    def _here(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        return {name: tensor.to(self.device) for name, tensor in tensors.items()}

    def take_best(self) -> dict[str, Any] | None:
        """Puts the weights with the best validation loss into the model; what was measured then.

        Without a validation text the averages of the weights, where there are some, are what is kept.
        """
        if not (self.checkpoints / "best").exists():
            if self.averages is not None:
                self.averages.put(self.averages.tensors)
            return None
        tensors, state = checkpoint.load_checkpoint(self.checkpoints / "best")
        self.model.restore(self._here(tensors["model"]), "checkpoints/best")
        return state
