"""What every encoder keeps (contract 3): x (B, T, D) -> y (B, T, H), state in and out.

State is a nested dict of tensors, batch first, with a per-row `position` (B,): the number of real steps
seen. It is never kept on `self`, so the same call trains in chunks, streams, samples and searches.
Masked steps (padding, on the right) leave the state as it was; `starts` resets it before that step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from foresay.errors import UserError
from foresay.parts import Part

State = dict[str, Any]  # nested dicts of tensors, batch first


class Encoder(Part, nn.Module):
    """`build(in_width)` fixes the sizes; `forward` -> (y (B, T, H), state) with H = `self.width`."""

    part_kind = "encoder"
    causal = True  # only causal encoders chunk
    grows = False  # True: the state grows with every step, as a cache without a window does
    longest: int | None = None  # the most steps it has positions for; None: any number
    width: int  # H, known after build

    def build(self, in_width: int) -> None:
        raise AssertionError(f"{type(self).__name__} has no build")

    def begin(self, rows: int, capacity: int | None = None) -> State:
        """The state before the first step, for `rows` rows; `capacity` is how many steps will come, if known."""
        raise AssertionError(f"{type(self).__name__} has no begin")

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        state: State | None = None,
        *,
        starts: Tensor | None = None,
        condition: Tensor | None = None,
    ) -> tuple[Tensor, State]:
        raise AssertionError(f"{type(self).__name__} has no forward")

    def layers(
        self, x: Tensor, mask: Tensor | None = None, state: State | None = None, *, starts: Tensor | None = None
    ) -> list[Tensor]:
        """Every layer's output, lowest first; the last one is what `forward` returns."""
        return [self.forward(x, mask, state, starts=starts)[0]]

    def trace(
        self, x: Tensor, mask: Tensor | None = None, state: State | None = None, *, starts: Tensor | None = None
    ) -> dict[str, Tensor]:
        """Inner values of every step by name, each (B, T, width): here every layer's output, `0` the lowest."""
        return {str(n): y for n, y in enumerate(self.layers(x, mask, state, starts=starts))}

    def admit(self, state: State | None, condition: Tensor | None = None) -> None:
        """Refuses what an encoder cannot use: a carried state when it sees the future, a condition."""
        name = getattr(self, "part_name", type(self).__name__)
        if state is not None and not self.causal:
            raise UserError(f"encoder {name} sees both sides and cannot go on from a state: pass whole sequences")
        if condition is not None:
            raise UserError(f"encoder {name} takes no condition")


def map_state(state: State, change: Callable[[Tensor], Tensor]) -> State:
    """The state with every tensor changed: one function serves detach, reorder, move and copy."""
    return {k: map_state(v, change) if isinstance(v, dict) else change(v) for k, v in state.items()}


def detach(state: State) -> State:
    return map_state(state, Tensor.detach)


def reorder(state: State, rows: Tensor) -> State:
    """The rows of a state picked by index, with repeats: the only way to branch."""
    return map_state(state, lambda tensor: tensor.index_select(0, rows))


def flatten_state(state: State, prefix: str = "") -> dict[str, Tensor]:
    """`{"encoder": {"h": t}}` -> `{"encoder.h": t}`, for saving."""
    flat: dict[str, Tensor] = {}
    for key, value in state.items():
        name = f"{prefix}.{key}" if prefix else key
        flat |= flatten_state(value, name) if isinstance(value, dict) else {name: value}
    return flat


def unflatten_state(flat: dict[str, Tensor]) -> State:
    state: State = {}
    for name, tensor in flat.items():
        *parents, leaf = name.split(".")
        inner = state
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[leaf] = tensor
    return state


def advance(position: Tensor, steps: int, mask: Tensor | None) -> Tensor:
    """The per-row count of real steps after a pass over `steps` of them."""
    return position + (steps if mask is None else mask.sum(1).to(torch.long))
