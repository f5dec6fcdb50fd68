"""The training loop: steps, what is written down of them, evaluation, and checkpoints (kept.py).

A run killed at any moment and resumed ends with the same bytes as one left alone. Of
several processes (team.py) all make every step, and the leading one writes.
"""

from __future__ import annotations

import math
import time
from contextlib import closing, nullcontext
from typing import Any

from foresay.data.loader import Loader
from foresay.train.best import cost
from foresay.train.kept import Kept
from foresay.train.measure import Figures, measure_on
from foresay.train.signals import Interrupted, hear_signals
from foresay.train.stall import AFTER, stalled


class Trainer(Kept):
    """A model being trained: step by step, with all that must survive a kill."""

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
                heard = self.team.most(received[0] if received else 0)
                if counters.step % loop.save.every == 0 or heard:
                    self.save()
                if heard:
                    self.team.wait()  # who starts processes may end all when the first one ends
                    raise Interrupted(heard, counters.step, self.folder)

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
            measured = self.measure(valid, limit=self.loop.evaluate.tokens)
            loss, now = math.inf, list[float]()
            if measured is not None:
                line = {"step": counters.step, "seconds": round(counters.seconds, 3)}
                self.metrics.write(line | {f"valid_{name}": value for name, value in measured.as_dict().items()})
                self.watch.evaluated(counters.step, measured)
                now = cost(measured.as_dict(), self.loop.evaluate.best, counters.step)
                loss = measured.loss if math.isfinite(measured.loss) else math.inf
            loss, now = self.team.told([loss, now])
            if counters.best is None or now < counters.best:
                counters.best, counters.best_step, counters.stale = now, counters.step, 0
                self.keep_best(measured)
            else:
                counters.stale += 1
        if self.averages is not None:
            self.averages.evaluated(loss)
        self._tell_of_stall()

    def measure(self, shards: Any, *, limit: int) -> Figures | None:
        """What there is to say of the model as it stands; None in a process that leaves it to the leading one."""
        if not self.team.leads and not self.spread.all_measure:
            return None
        with self.spread.whole():
            return measure_on(self.model, self.loop.batches, shards, limit=limit)

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
