"""One step of training, from top to bottom.

    batches -> loss (gradient only inside the chunk, state carried) -> clip -> step, or skip if not finite

On a GPU, where every batch has one of a few shapes, the step runs as a CUDA graph (graph.py) and nobody waits for it:
what it counts is read when somebody wants to know (`settle`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.batches import BatchOrder
from foresay.encode.encoder import State, detach
from foresay.encode.transformer import Transformer
from foresay.errors import UserError
from foresay.models.task import Task
from foresay.train.average import Averages
from foresay.train.clip import gradient_norm
from foresay.train.graph import Graphs, NotCapturable
from foresay.train.optimise import set_rate
from foresay.train.progress import Watch
from foresay.train.settings import Loop
from foresay.train.spread import spread_over
from foresay.train.team import ALONE, Team

MOST_SKIPPED = 20  # steps skipped in a row before the run gives up
WORTH = 8  # batches of one shape in a run: to capture their step takes the time of about five, launched one by one
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass
class Counters:
    """The small numbers of a run that a checkpoint keeps."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    skipped: int = 0
    skipped_in_a_row: int = 0
    best: list[float] | None = None  # best.py
    best_step: int = 0
    stale: int = 0
    loss_sum: float = 0.0
    loss_steps: int = 0


class Steps:
    """A model and all that its steps change."""

    def __init__(self, model: Task, loop: Loop, order: BatchOrder, watch: Watch, team: Team = ALONE):
        self.model, self.loop, self.order, self.watch, self.team = model, loop, order, watch, team
        self.device = model.device
        self.spread = spread_over(team, model, loop.compute.parallel)
        self.optimizer = loop.optimizer.open(model)
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=loop.precision == "float16")
        self.carried: State | None = None
        self.counters = Counters()
        self.averages = Averages(loop.optimizer.average, model) if loop.optimizer.average is not None else None
        schedule = loop.optimizer.schedule.in_steps(max(order.per_epoch // loop.accumulate, 1))
        self.rate: Callable[[int], float] = lambda step: loop.optimizer.lr * schedule.factor(step, loop.steps)
        if loop.compute.compile:
            assert isinstance(model.encoder, Transformer), "checked with the recipe"
            model.encoder.compile_blocks()
        self.epochs = loop.steps * loop.accumulate / order.per_epoch
        self.graph = wants_graph(loop, self.device, team)
        self.graphs: Graphs | None = None  # from the first step on

    def train_step(self, batches: list[Batch]) -> tuple[float, float]:
        """One step over one or more batches; the mean loss and the norm of the gradient.

        Of a CUDA graph these are tensors on the device, of this step until the next: to read them is to wait.
        """
        loop, counters = self.loop, self.counters
        pace = sum(batch.pace for batch in batches) / len(batches)
        rate = self.rate(counters.step) * pace
        if self.graph:
            return self._replay(batches, rate)
        self.model.train()
        total, state = self.backward(batches, self.carried)
        self.carried = detach(state)
        self.spread.add_gradients()
        total = self.team.add(total)
        set_rate(self.optimizer, rate)
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
        counters.tokens += sum(batch.tokens for batch in batches)
        if self.averages is not None and counters.skipped_in_a_row == 0:
            self.averages.stepped(counters.step, loop.steps)
        return mean, length

    def backward(self, batches: Sequence[Batch], carried: State | None) -> tuple[Tensor, State]:
        """Fills the gradients; the mean loss of the batches, each counting by its tokens, and the state after them.

        Of several processes each has its rows of every batch, and these are its shares of both.
        """
        precision, weights = self.loop.precision, self._weights(batches)
        total = torch.zeros((), device=self.device)
        for batch, weight in zip(map(self._own, batches), weights, strict=True):
            with torch.autocast(self.device.type, DTYPES[precision], enabled=precision != "float32"):
                loss, carried = self.model.loss(batch.to(self.device), carried)
            self.scaler.scale(loss * (weight * self.spread.factor)).backward()
            carried = (
                detach(carried) if self.loop.batches.carries else {}
            )  # a cache is large, and nobody goes on from it
            total += loss.detach() * weight
        assert carried is not None
        return total, carried

    def _own(self, batch: Batch) -> Batch:
        """This process's rows of a batch; where there are too few any one, that counts for nothing."""
        if self.team.alone:
            return batch
        begin, end = self.team.bounds(batch.height)
        return batch.rows(begin, end) if end > begin else batch.rows(0, 1)

    def _weights(self, batches: Sequence[Batch]) -> list[float]:
        """The share of each batch, or of this process's rows of it, in the mean loss of all."""
        if len(batches) == 1 and self.team.alone:
            return [1.0]  # to count is to wait
        counts = [self.model.weight_of(batch) for batch in batches]
        own = counts
        if not self.team.alone:
            begins = [self.team.bounds(batch.height) for batch in batches]
            own = [
                self.model.weight_of(batch.rows(*begin)) if begin[1] > begin[0] else 0.0
                for batch, begin in zip(batches, begins, strict=True)
            ]
        return [count / (sum(counts) or 1.0) for count in own]

    def _replay(self, batches: list[Batch], rate: float) -> tuple[Any, Any]:
        """The same step as a CUDA graph, which is captured when the first batch of its shape comes."""
        loop, counters = self.loop, self.counters
        if self.graphs is None:
            begun = counters.skipped_in_a_row
            self.graphs = Graphs(self.model, self.optimizer, loop.clip, self.backward, begun)
        limit = loop.clip.threshold(counters.step) if loop.clip else math.inf
        seldom = any(batch.alike is not None and batch.alike * self.epochs < WORTH for batch in batches)
        try:
            self.carried = self.graphs.step(batches, self.carried, rate, limit, seldom)
        except NotCapturable as reason:
            self._without_graph(reason)
            return self.train_step(batches)
        counters.step += 1
        counters.tokens += sum(batch.tokens for batch in batches)
        if self.averages is not None:
            self.averages.stepped(counters.step, loop.steps, self.graphs.made)
        return self.graphs.last()

    def _without_graph(self, reason: NotCapturable) -> None:
        if self.loop.compute.graph is True:
            raise UserError(f"train.graph=true, but the step cannot be captured: {reason}; leave it out") from reason
        self.watch.note(f"the step runs without a CUDA graph: {reason}")
        self.settle()
        assert self.graphs is not None
        self.graphs.close()
        self.graphs, self.graph = None, False
        self.optimizer.zero_grad(set_to_none=True)

    def settle(self) -> None:
        """Waits for the steps that were launched and takes over what they counted."""
        counters = self.counters
        if self.graphs is None:
            return
        found = self.graphs.settle()
        counters.loss_sum += found.loss_sum
        counters.loss_steps += found.losses
        if found.skipped and not counters.skipped:
            self.watch.note(
                f"step {counters.step}: {found.skipped} of the last steps skipped: a loss or a gradient was not finite"
            )
        counters.skipped += found.skipped
        counters.skipped_in_a_row = found.in_a_row
        if self.averages is not None:
            self.averages.settle()
        if found.in_a_row >= MOST_SKIPPED:
            raise too_many(found.loss, found.norm, counters.step, found.in_a_row)

    def _skip(self, loss: float, norm: float) -> None:
        """A gradient that is no number is never applied; too many in a row end the run."""
        counters = self.counters
        self.carried = None
        counters.skipped += 1
        counters.skipped_in_a_row += 1
        if counters.skipped == 1:
            self.watch.note(f"step {counters.step + 1}: loss {loss}, gradient norm {norm}: skipped")
        if counters.skipped_in_a_row >= MOST_SKIPPED:
            raise too_many(loss, norm, counters.step + 1, MOST_SKIPPED)


def wants_graph(loop: Loop, device: torch.device, team: Team = ALONE) -> bool:
    """Whether the step runs as a CUDA graph.

    A loss scale, which float16 needs, is kept on the host. Of buckets, batches accumulate in too many shapes.
    """
    batches, graph = loop.batches, loop.compute.graph
    if not team.alone:
        if graph is True:
            raise UserError(f"train.graph=true with {team.size} processes, whose steps talk; leave it out")
        return False
    can = device.type == "cuda" and loop.precision != "float16"
    can = can and (batches.repeats or (batches.bucketed and loop.accumulate == 1))
    if graph is True and not can:
        raise UserError(
            f"train.graph=true on {device.type} with train.batches={type(loop.batches).__name__.lower()} and "
            f"train.precision={loop.precision}; it needs a GPU, packed batches, streams without reset and forget, or "
            "rows of like length without accumulate, and no float16: leave it out"
        )
    return can and graph is not False


def too_many(loss: float, norm: float, step: int, skipped: int) -> UserError:
    """The end of a run whose steps cannot be made."""
    return UserError(
        f"loss={loss}, gradient norm={norm} at step {step}, the last of {skipped} in a row; "
        "both must be finite: start a new run with a lower train.lr or train.clip"
    )
