"""A model whose step of one symbol is a CUDA graph: captured once for a number of rows, then replayed.

A step of a recurrent model is a few dozen small kernels, and to launch them takes longer than to run them. Prompts,
rows that are masked and states that grow go to the model as they come; so does everything on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from foresay.encode.encoder import State, flatten_state, map_state
from foresay.kernels.switch import as_graph, in_graph, plain

WARM = 2  # steps before the capture, in which kernels are compiled and chosen


def graphed(model: Any) -> Any:
    """The model itself, or with its step as a graph where that can be."""
    if plain() or model.device.type != "cuda" or getattr(model, "encoder", None) is None:
        return model
    return Graphed(model)


class Graphed:
    """Keeps begin, step and reorder of the model it has."""

    def __init__(self, model: Any):
        self.model, self.device = model, model.device
        self.steady, self.vocabulary = model.steady, model.vocabulary
        self.graph: torch.cuda.CUDAGraph | None = None
        self.given: tuple[Tensor, State] | None = None  # what the graph reads
        self.found: tuple[Tensor, State] | None = None  # what it writes
        self.shapes: list[Any] = []  # of what it reads
        self.before: list[Any] = []  # of what the last step of one symbol read
        self.room: int | None = None  # steps that a cache has room for; None: not known

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        return self.model.begin(rows, condition, capacity)

    def reorder(self, state: State, rows: Tensor) -> State:
        return self.model.reorder(state, rows)

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        if mask is not None or ids.shape[1] != 1:
            self.room = None
            return self.model.step(ids, state, mask)
        new = flatten_state(state)
        shapes, before = [ids.shape, *(tensor.shape for tensor in new.values())], self.before
        self.before = shapes
        if shapes != before or not self._has_room(state):  # a state that grows has another shape each time
            self.room = None
            return self.model.step(ids, state)
        if shapes != self.shapes:
            self._capture(ids, state)
            self.shapes = shapes
        assert self.graph is not None and self.given is not None and self.found is not None
        own = flatten_state(self.given[1])
        pairs = [(tensor, new[name]) for name, tensor in own.items() if tensor.data_ptr() != new[name].data_ptr()]
        for tensor, other in [(self.given[0], ids), *pairs]:
            tensor.copy_(other)
        self.graph.replay()
        return self.found

    def _has_room(self, state: State) -> bool:
        """Whether a cache with slots has one left; how many is asked of the device once after a prompt."""
        inner = state.get("encoder")
        if not isinstance(inner, dict) or "used" not in inner:
            return True
        room = inner["at"].shape[1] - int(inner["used"][0]) if self.room is None else self.room
        self.room = room - 1
        return room > 0

    def _capture(self, ids: Tensor, state: State) -> None:
        self.given = ids.clone(), map_state(state, Tensor.clone)
        stream = torch.cuda.Stream(self.device)
        stream.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(stream), as_graph():
            for _ in range(WARM):
                self.model.step(self.given[0], map_state(self.given[1], Tensor.clone))
        torch.cuda.current_stream(self.device).wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph), as_graph():
            self.found = self.model.step(*self.given)


class Repeated:
    """A call that changes the same tensors each time: on a GPU a graph, from the third time on."""

    def __init__(self, call: Callable[[], None], device: torch.device):
        self.call, self.device, self.times = call, device, 0
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        self.times += 1
        if self.graph is not None:
            self.graph.replay()
        elif self.device.type != "cuda" or plain() or self.times <= WARM:
            self.call()
        else:
            self._capture()

    def _capture(self) -> None:
        """The graph; or none, for a call that waits for the device or makes new shapes, which then stays as it is."""
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph), as_graph():
                self.call()
        except RuntimeError:
            self.times = -(1 << 60)
            torch.cuda.synchronize(self.device)
            self.call()
            return
        self.graph = graph
        graph.replay()


def taken_over(ours: Any, new: Any) -> Any:
    """A tensor, or a state: on a GPU copied to where it was before, if it has the same shape."""
    if isinstance(ours, dict) and isinstance(new, dict) and ours.keys() == new.keys():
        if not torch.cuda.is_available():
            return new
        return {name: taken_over(ours[name], value) for name, value in new.items()}
    if not isinstance(new, Tensor) or not isinstance(ours, Tensor) or not new.is_cuda:
        return new
    if ours.shape != new.shape or ours.dtype != new.dtype:
        if in_graph():
            raise RuntimeError("the state changes its shape from step to step")
        return new
    return ours if ours.data_ptr() == new.data_ptr() else ours.copy_(new)
