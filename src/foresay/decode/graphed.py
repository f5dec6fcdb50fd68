"""A model whose step of one symbol is a CUDA graph: captured once for a number of rows, then replayed.

A step of a recurrent model is a few dozen small kernels, and to launch them takes longer than to run them. Prompts,
rows that are masked and states that grow go to the model as they come; so does everything on a CPU.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from foresay.encode.encoder import State, flatten_state, map_state
from foresay.kernels.switch import as_graph, plain

WARM = 2  # steps before the capture, in which kernels are compiled and chosen


def graphed(model: Any) -> Any:
    """The model itself, or with its step as a graph where that can be."""
    encoder = getattr(model, "encoder", None)
    if plain() or model.device.type != "cuda" or encoder is None or encoder.grows:
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

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        return self.model.begin(rows, condition, capacity)

    def reorder(self, state: State, rows: Tensor) -> State:
        return self.model.reorder(state, rows)

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        if mask is not None or ids.shape[1] != 1:
            return self.model.step(ids, state, mask)
        if self.given is None or self.given[0].shape != ids.shape:
            self._capture(ids, state)
        assert self.graph is not None and self.given is not None and self.found is not None
        self.given[0].copy_(ids)
        own, new = flatten_state(self.given[1]), flatten_state(state)
        for name, tensor in own.items():
            tensor.copy_(new[name])
        self.graph.replay()
        return self.found

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
