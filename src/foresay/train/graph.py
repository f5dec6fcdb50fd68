"""The whole training step as one CUDA graph: captured once for each shape of batch, then replayed.

    loss, backward, norm, clip, optimiser, carried state        all on the device, launched by one call

Replayed, a step is the same kernels on the same memory. So what changes from step to step lies in tensors that stay in
their place: the batch, the carried state, the learning rate, the limit of the clipping. Random numbers go on from step
to step, as torch keeps the place of its generator for every graph.

Nothing waits for the device. A loss or a gradient that is not finite sets `skip`, which the fused optimiser obeys, and
sets the carried state back to zero. The loss and the norm of every step are noted on the device, where `settle` reads
them when somebody wants to know. All graphs share one pool of memory: nothing in it outlives a step.

Before a graph is captured the step is rehearsed with `skip` set, which compiles kernels and makes the optimiser's
memory but changes no weight. So every step that counts is a replay, in a run left alone and in one killed and resumed.
A batch whose shape comes too seldom in the run to be worth a capture (`seldom`) has the same step, launched kernel by
kernel; which ones those are depends on the data and the settings alone.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.strange import LONGEST
from foresay.encode.encoder import State, detach, flatten_state, map_state
from foresay.kernels.switch import as_graph
from foresay.models.task import Task
from foresay.train.clip import Clip, gradient_norm

FEW = 64  # strange words that a graph has room for
NOTED = 1024  # steps whose loss and norm the device keeps before they are read
Backward = Callable[[Sequence[Batch], State | None], tuple[Tensor, State]]  # -> mean loss, state after; fills gradients


class NotCapturable(Exception):
    """A step that cannot be a graph: it waits for the device, or its state changes shape."""


@dataclass(frozen=True)
class Settled:
    """What happened since it was asked last."""

    loss_sum: float  # of finite losses
    losses: int
    skipped: int
    in_a_row: int  # steps skipped up to now without one that was made between them
    loss: float  # of the last step
    norm: float


@dataclass(frozen=True)
class Captured:
    """A graph and the batches it reads."""

    graph: torch.cuda.CUDAGraph
    batches: list[Batch]


class Graphs:
    """The steps of one model, one graph for each shape of batches."""

    def __init__(
        self, model: Task, optimizer: torch.optim.Optimizer, clip: Clip | None, backward: Backward, in_a_row: int = 0
    ):
        self.model, self.optimizer, self.clip, self.backward = model, optimizer, clip, backward
        for module in model.modules():  # cuDNN would move weights that it finds apart, from under the graphs
            if hasattr(module, "flatten_parameters"):
                module.flatten_parameters()  # pyright: ignore[reportCallIssue]
        self.places = self._places()
        self.device = device = model.device
        self.rate, self.limit, self.skip = (torch.zeros((), device=device) for _ in range(3))
        self.made = torch.ones((), dtype=torch.float64, device=device)  # 1 - skip
        self.notes = torch.zeros(NOTED, 2, device=device)  # loss and norm of the steps since they were read
        self.place = torch.zeros(1, dtype=torch.long, device=device)  # of the next step in them
        self.noted = 0  # how many there are
        self.read: list[list[float]] = []  # those that were read before anybody asked
        self.in_a_row = in_a_row
        self.sent: list[float] = []  # rate and limit as they are on the device
        self.carried: State | None = None  # in its place from the first step on
        self.captured: dict[Any, Captured] = {}
        self.pool: Any = None  # both from the first capture on
        self.stream: Any = None
        optimizer.found_inf = self.skip  # pyright: ignore[reportAttributeAccessIssue] - fused optimisers look here
        for group in optimizer.param_groups:
            group["lr"] = self.rate
            if "capturable" in group:
                group["capturable"] = True

    def step(
        self, batches: Sequence[Batch], carried: State | None, rate: float, limit: float, seldom: bool = False
    ) -> State:
        """One step; the state after it, which stays valid until the next one. `seldom` is not worth a capture."""
        if self.noted == NOTED:
            self._read()
        if self.sent != [rate, limit]:
            self.rate.fill_(rate)
            self.limit.fill_(limit)
            self.sent = [rate, limit]
        fresh = carried is None or batches[0].fresh
        if carried is not None and carried is not self.carried:
            self._hold(carried)
        if seldom:
            self.model.train()
            self._whole([batch.to(self.device) for batch in batches], fresh)
        else:
            self._replay(batches, fresh)
        self.noted += 1
        assert self.carried is not None
        return self.carried

    def _replay(self, batches: Sequence[Batch], fresh: bool) -> None:
        batches = [_evened(batch) for batch in batches]
        key = (fresh, *map(_shapes, batches))
        if key not in self.captured:
            self.captured[key] = self._try(batches, fresh)
        captured = self.captured[key]
        for ours, given in zip(captured.batches, batches, strict=True):
            _copy(ours, given)
        captured.graph.replay()

    def settle(self) -> Settled:
        """Waits for the device and counts."""
        assert self.places == self._places(), "a weight was moved: the graphs go on with its old place"
        self._read()
        steps, self.read = self.read, []
        losses = [loss for loss, _ in steps if math.isfinite(loss)]
        skipped = 0
        for loss, norm in steps:
            bad = not (math.isfinite(loss) and math.isfinite(norm))
            skipped += bad
            self.in_a_row = self.in_a_row + 1 if bad else 0
        loss, norm = steps[-1] if steps else (math.nan, math.nan)
        return Settled(sum(losses), len(losses), skipped, self.in_a_row, loss, norm)

    def last(self) -> tuple[Tensor, Tensor]:
        """Loss and norm of the last step, on the device."""
        loss, norm = self.notes[self.noted - 1]
        return loss, norm

    def _read(self) -> None:
        self.read += self.notes[: self.noted].tolist()
        self.place.zero_()
        self.noted = 0

    def _places(self) -> list[int]:
        return [parameter.data_ptr() for parameter in self.model.parameters()]

    def close(self) -> None:
        """Gives the optimiser back as it was: the next steps are plain ones."""
        self.optimizer.found_inf = None  # pyright: ignore[reportAttributeAccessIssue]
        self.optimizer.grad_scale = None  # pyright: ignore[reportAttributeAccessIssue]
        for group in self.optimizer.param_groups:
            group["lr"] = float(self.rate)
            if "capturable" in group:
                group["capturable"] = False

    def _try(self, batches: Sequence[Batch], fresh: bool) -> Captured:
        try:
            return self._capture(batches, fresh)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            raise NotCapturable(str(error).split("\n")[0]) from error

    def _capture(self, batches: Sequence[Batch], fresh: bool) -> Captured:
        if self.pool is None:
            self.pool, self.stream = torch.cuda.graph_pool_handle(), torch.cuda.Stream(self.device)
        static = [batch.to(self.device) for batch in batches]
        self.model.train()
        self._rehearse(static, fresh)
        graph = torch.cuda.CUDAGraph()
        # thread_local: threads that make batches ahead may pin memory meanwhile
        mode = "thread_local"
        with as_graph(), torch.cuda.graph(graph, pool=self.pool, stream=self.stream, capture_error_mode=mode):
            self._whole(static, fresh)
        return Captured(graph, static)

    def _rehearse(self, batches: list[Batch], fresh: bool) -> None:
        """Steps that leave no trace but the optimiser's memory, at zero where it is new."""
        counts = [(one, one.clone()) for one in counters_of(self.model)]
        try:
            self._step_aside(batches, fresh)
        finally:  # a step that cannot be captured has counted itself too
            for ours, before in counts:
                ours.copy_(before)

    def _step_aside(self, batches: list[Batch], fresh: bool) -> None:
        random, place = torch.cuda.get_rng_state(self.device), self.place.clone()
        held = None if self.carried is None else map_state(self.carried, Tensor.clone)
        known = set(self.optimizer.state)
        self.stream.wait_stream(torch.cuda.current_stream(self.device))
        try:
            with torch.cuda.stream(self.stream):
                with as_graph():
                    self._whole(batches, fresh, rehearsal=True)
                with as_graph(), no_waiting():  # the second meets no first times: what waits now would wait every time
                    self._whole(batches, fresh, rehearsal=True)
        finally:  # what cannot be captured has drawn its numbers too
            torch.cuda.current_stream(self.device).wait_stream(self.stream)
            torch.cuda.set_rng_state(random, self.device)
        self.place.copy_(place)
        if held is not None:
            self._hold(held)
        for parameter in self.optimizer.state.keys() - known:
            for value in self.optimizer.state[parameter].values():
                if isinstance(value, Tensor):
                    value.zero_()

    def _whole(self, batches: list[Batch], fresh: bool, rehearsal: bool = False) -> None:
        """The step itself, as it is captured."""
        loss, state = self.backward(batches, None if fresh else self.carried)
        norm = gradient_norm(self.model)
        if self.clip is not None:
            divisor = self.clip.divisor(norm, self.limit)
            self.optimizer.grad_scale = divisor  # pyright: ignore[reportAttributeAccessIssue] - and here
            if divisor is None:
                self.clip.shorten(self.model, norm, self.limit)
        self._judge(loss, norm)
        if rehearsal:
            self.skip.fill_(1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self._hold(detach(state), self.skip.bool())

    def _judge(self, loss: Tensor, norm: Tensor) -> None:
        """Whether loss and norm are numbers, and a note of both."""
        figures = torch.stack([loss.detach().float(), norm.float()])
        wrong = (figures * 0.0).sum()  # zero, or no number where one of them is infinite or none
        torch.ne(wrong, 0.0, out=self.skip)
        torch.eq(wrong, 0.0, out=self.made)
        self.notes.index_copy_(0, self.place, figures[None])
        self.place += 1

    def _hold(self, state: State, lost: Tensor | None = None) -> None:
        """Takes over a state into its place; zeros where it is lost."""
        if self.carried is None:
            self.carried = map_state(state, torch.zeros_like)
        given, ours = flatten_state(state), flatten_state(self.carried)
        if {name: t.shape for name, t in given.items()} != {name: t.shape for name, t in ours.items()}:
            raise RuntimeError("the carried state changes its shape from step to step")
        for name, tensor in ours.items():
            tensor.copy_(given[name] if lost is None else given[name].masked_fill(lost, 0))


def counters_of(model: Task) -> list[Tensor]:
    """What a model counts as it trains: the steps of scheduled sampling, the batches until layers thaw."""
    return [one for one in model.buffers() if one.ndim == 0 and one.dtype == torch.long]


@contextmanager
def no_waiting() -> Iterator[None]:
    """What waits for the device in here is an error."""
    before = torch.cuda.get_sync_debug_mode()
    try:
        _set_mode("error")
        yield
    finally:
        _set_mode(before)


def _set_mode(mode: int | str) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Synchronization debug mode is a prototype")
        torch.cuda.set_sync_debug_mode(mode)


def _evened(batch: Batch) -> Batch:
    """The same with room for a power of two of strange words, at least FEW, of any length: few shapes in all."""
    if batch.characters is None:
        return batch
    words, letters = batch.characters.shape
    room = max(FEW, 1 << (words - 1).bit_length())
    return replace(batch, characters=F.pad(batch.characters, (0, LONGEST + 2 - letters, 0, room - words)))


def _shapes(batch: Batch) -> tuple[Any, ...]:
    """What a graph depends on: which fields there are and how large."""
    return batch.fresh, *((name, tuple(value.shape)) for name, value in batch.tensors().items())


def _copy(ours: Batch, given: Batch) -> None:
    """The fields of a batch into their places, from pinned memory without waiting."""
    places = ours.tensors()
    for name, value in given.tensors().items():
        place = places[name]
        place.copy_(value.pin_memory() if place.is_cuda and not value.is_cuda else value, non_blocking=True)
