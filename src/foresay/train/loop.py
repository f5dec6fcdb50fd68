"""The training loop: steps, what is written down of them, evaluation, and checkpoints.

Everything the next step depends on is in the checkpoint (weights, optimiser, carried state, random state,
counters; the data position is the step itself), so that a run killed at any moment and resumed ends with the
same bytes as one left alone.
"""

from __future__ import annotations

import math
import time
from contextlib import closing, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foresay.data.loader import Loader
from foresay.data.prepare import Prepared
from foresay.encode.encoder import flatten_state, map_state, unflatten_state
from foresay.errors import UserError
from foresay.models.task import Task
from foresay.train import checkpoint
from foresay.train.best import cost
from foresay.train.board import Board
from foresay.train.measure import measure_on
from foresay.train.optimise import optimizer_tensors, restore_optimizer
from foresay.train.progress import Metrics, Watch
from foresay.train.settings import Loop
from foresay.train.signals import Interrupted, hear_signals
from foresay.train.stall import AFTER, stalled
from foresay.train.step import Counters, Steps


class Trainer(Steps):
    """A model being trained: step by step, with all that must survive a kill."""

    def __init__(self, model: Task, loop: Loop, prepared: Prepared, seed: int, folder: Path, watch: Watch):
        super().__init__(model, loop, loop.batches.open(prepared.train, seed), watch)
        self.prepared, self.folder = prepared, folder
        self.checkpoints = folder / checkpoint.CHECKPOINTS
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
                measures = counters.step % loop.evaluate.every == 0 or counters.step == loop.steps
                if self._reports() or measures or counters.step % loop.save.every == 0:
                    self.settle()
                counters.seconds += time.perf_counter() - began
                self._report(loss, norm)
                if measures:
                    self.evaluate()
                if counters.step % loop.save.every == 0 or received:
                    self.save()
                if received:
                    raise Interrupted(received[0], counters.step, self.folder)

    def _reports(self) -> bool:
        """Whether this step is one whose figures are written down."""
        every = max(1, min(self.loop.steps // 200, 50))
        return self.counters.step % every == 0 or self.counters.step == self.loop.steps

    def _report(self, loss: float, norm: float) -> None:
        counters = self.counters
        if self.graphs is None and math.isfinite(loss):
            counters.loss_sum += loss
            counters.loss_steps += 1
        if not self._reports():
            return
        mean = counters.loss_sum / counters.loss_steps if counters.loss_steps else math.nan
        counters.loss_sum, counters.loss_steps = 0.0, 0
        rate = self.rate(counters.step - 1)
        line = {"step": counters.step, "loss": mean, "lr": rate, "norm": float(norm), "tokens": counters.tokens}
        line |= {"seconds": round(counters.seconds, 3), "skipped": counters.skipped}
        self.metrics.write(line)
        self.watch.step(counters.step, self.loop.steps, mean, counters.tokens / max(counters.seconds, 1e-9))

    def evaluate(self) -> None:
        """Measures the weights, or their averages, on the validation text; keeps them when they are the best so far."""
        self.settle()
        counters, valid = self.counters, self.prepared.valid
        if valid is None:
            return
        with self.averages.in_place() if self.averages is not None else nullcontext():
            measured = measure_on(self.model, self.loop.batches, valid, limit=self.loop.evaluate.tokens)
            line = {"step": counters.step, "seconds": round(counters.seconds, 3)}
            self.metrics.write(line | {f"valid_{name}": value for name, value in measured.as_dict().items()})
            self.watch.evaluated(counters.step, measured)
            now = cost(measured.as_dict(), self.loop.evaluate.best, counters.step)
            if counters.best is None or now < counters.best:
                counters.best, counters.best_step, counters.stale = now, counters.step, 0
                saved = {"step": counters.step, "valid": measured.as_dict()}
                checkpoint.save_checkpoint(self.checkpoints, "best", {"model": self.model.tensors()}, saved)
            else:
                counters.stale += 1
        if self.averages is not None:
            self.averages.evaluated(measured.loss if math.isfinite(measured.loss) else math.inf)
        self._tell_of_stall()

    def _tell_of_stall(self) -> None:
        counters, patience = self.counters, self.loop.evaluate.patience
        if self._stale():
            self.watch.note(
                f"step {counters.step}: stopped, as the last {patience} evaluations brought nothing better than "
                f"step {counters.best_step}, which is kept (train.patience={patience})"
            )
        elif counters.stale == AFTER:
            by = self.loop.evaluate.best
            self.watch.note(stalled(counters.step, counters.best_step, patience, self.metrics.read(), by))

    def _stale(self) -> bool:
        patience = self.loop.evaluate.patience
        return patience > 0 and self.counters.stale >= patience

    def save(self) -> None:
        """Writes a checkpoint of this step."""
        self.settle()
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
            if isinstance(self.counters.best, float):  # of a run from before there was train.best
                self.counters.best = [self.counters.best, self.counters.best]
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
        """Puts the weights that were best on the validation text into the model; what was measured then.

        Without a validation text the averages of the weights, where there are some, are what is kept.
        """
        if not (self.checkpoints / "best").exists():
            if self.averages is not None:
                self.averages.put(self.averages.tensors)
            return None
        tensors, state = checkpoint.load_checkpoint(self.checkpoints / "best")
        self.model.restore(self._here(tensors["model"]), "checkpoints/best")
        return state
