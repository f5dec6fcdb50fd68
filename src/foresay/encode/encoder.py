"""What every encoder keeps (contract 3): x (B, T, D) -> y (B, T, H), state in and out.

State is a nested dict of tensors, batch first, with a per-row `position` (B,): the number of real steps
seen. It is never kept on `self`, so the same call trains in chunks, streams, samples and searches.
Masked steps (padding, on the right) leave the state as it was; `starts` resets it before that step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from foresay.errors import UserError
from foresay.kernels.switch import in_file
from foresay.parts import Part

State = dict[str, Any]  # nested dicts of tensors, batch first
Shapes = list[tuple[tuple[str, ...], tuple[int, ...]]]  # of a state: each tensor's path and its shape after the rows


class Encoder(Part, nn.Module):
    """`build(in_width)` fixes the sizes; `forward` -> (y (B, T, H), state) with H = `self.width`."""

    part_kind = "encoder"
    causal = True  # only causal encoders chunk
    halves = False  # True: half of its features read forwards, half backwards
    grows = False  # True: the state grows with every step, as a cache without a window does
    longest: int | None = None  # the most steps it has positions for; None: any number
    takes_condition = False  # True: every step may see a condition (B, C), or one of its own (B, T, C)
    condition_width = 0  # C, told before `build`; 0: there is none
    within = ""  # where the settings of an encoder inside it stand, which reads for it
    width: int  # H, known after build
    _shapes: Shapes | None = None  # of a state, worked out when the first one is admitted

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

    @property
    def sees_both_sides(self) -> bool:
        """Whether every step sees all that is before it and after it."""
        return not self.causal

    def how_one_way(self) -> str:
        """What makes it causal."""
        return "set encoder.bidirectional=false or encoder.causal=true"

    def how_both_ways(self) -> str:
        """What lets it see both sides."""
        where = f"encoder.{self.within}"
        return f"set {where}causal=false for a transformer or dilated, {where}bidirectional=true for a recurrent one"

    def by_layer(self) -> list[list[nn.Parameter]]:
        """The parameters of each layer, lowest first; those of no layer stand with the lowest."""
        return [list(self.parameters())]

    def trace(
        self, x: Tensor, mask: Tensor | None = None, state: State | None = None, *, starts: Tensor | None = None
    ) -> dict[str, Tensor]:
        """Inner values of every step by name, each (B, T, width): here every layer's output, `0` the lowest."""
        return {str(n): y for n, y in enumerate(self.layers(x, mask, state, starts=starts))}

    def outline(self) -> State:
        """A state of one row, for its names and shapes; an axis of length 0 is one that grows."""
        return self.begin(1)

    def admit(self, state: State | None, condition: Tensor | None = None, *, rows: int | None = None) -> None:
        """Refuses what cannot be used: a condition; a state that does not fit `rows`, or any, if it sees the future."""
        if in_file():  # lengths are not known
            return
        name = getattr(self, "part_name", type(self).__name__)
        if state is not None and not self.causal:
            raise UserError(f"encoder {name} sees both sides and cannot go on from a state: pass whole sequences")
        self._admit_condition(name, condition, rows)
        if state is None or (self._shapes is not None and rows is not None and _fits(state, self._shapes, rows)):
            return
        self._shapes = shapes_of(self.outline())
        wrong = misfit(state, self._shapes, rows)
        if wrong is not None:
            raise UserError(wrong)

    def _admit_condition(self, name: str, condition: Tensor | None, rows: int | None) -> None:
        width = self.condition_width
        if condition is None:
            if width:
                raise UserError(f"encoder {name} was built for a condition; pass condition (B, {width})")
        elif not width:
            how = "; set encoder.condition_width before build" if self.takes_condition else ""
            raise UserError(f"encoder {name} takes no condition{how}")
        elif condition.ndim not in (2, 3) or condition.shape[-1] != width or len(condition) != (rows or len(condition)):
            raise UserError(
                f"condition is {tuple(condition.shape)}; allowed: ({rows or 'B'}, {width}), or with a vector for each "
                f"step ({rows or 'B'}, T, {width})"
            )


def tell_grid(model: nn.Module, columns: int, channels: int) -> None:
    """Tells every encoder that looks at a picture as one how wide it is and its colours, where no setting says so."""
    for module in model.modules():
        if isinstance(module, Encoder):
            for name, value in (("columns", columns), ("channels", channels)):
                if getattr(module, name, value) is None:
                    setattr(module, name, value)


def with_rest(encoder: nn.Module, layers: Sequence[Sequence[nn.Module]]) -> list[list[nn.Parameter]]:
    """The parameters of some modules for each layer, and all others of the encoder with the first."""
    own = [[parameter for module in layer for parameter in module.parameters()] for layer in layers]
    placed = {id(parameter) for layer in own for parameter in layer}
    return [[parameter for parameter in encoder.parameters() if id(parameter) not in placed] + own[0], *own[1:]]


def shapes_of(state: State) -> Shapes:
    return [(tuple(name.split(".")), tuple(tensor.shape[1:])) for name, tensor in flatten_state(state).items()]


def _fits(state: State, shapes: Shapes, rows: int) -> bool:
    """Whether nothing is wrong, which every step of decoding asks: 12 us, where `misfit`, which says what, takes 27."""
    try:
        for path, rest in shapes:
            value: Any = state
            for name in path:
                value = value[name]
            first, *others = value.shape
            if first != rows or len(others) != len(rest):
                return False
            for now, then in zip(others, rest, strict=True):
                if now != then and then:
                    return False
    except (KeyError, TypeError, AttributeError, ValueError):
        return False
    return True


def misfit(state: State, shapes: Shapes, rows: int | None) -> str | None:
    """What is wrong with a state, in one line: something is missing, or has another shape or number of rows."""
    first = rows
    for path, rest in shapes:
        value: Any = state
        for depth, name in enumerate(path, 1):
            value = value.get(name) if isinstance(value, dict) else None
            if value is None:
                has = ", ".join(flatten_state(state)) or "nothing"
                return f"state has no {'.'.join(path[:depth])}; it has {has}; {_remedy(rows)}"
        shape = value.shape if isinstance(value, Tensor) else ()
        if shape == (first, *rest):
            continue
        first = shape[0] if path == shapes[0][0] and shape else first
        if shape[:1] != (first,):
            return f"state {'.'.join(path)} has {shape[0] if shape else 'no'} rows, others {first}; {_remedy(rows)}"
        if shape[1:] != rest and not _grown(shape[1:], rest):
            allowed = ", ".join([str(first), *(str(n or "any") for n in rest)]) + ("" if rest else ",")
            return f"state {'.'.join(path)} is {tuple(shape)}; allowed: ({allowed}); {_remedy(rows)}"
    if rows is not None and first != rows:
        return f"state has {first} rows and x has {rows}; {_remedy(rows)} for these rows"
    return None


def _grown(shape: tuple[int, ...], begun: tuple[int, ...]) -> bool:
    """Whether a shape differs from that of the beginning in axes alone that grow."""
    return len(shape) == len(begun) and all(now == then or then == 0 for now, then in zip(shape, begun, strict=True))


def _remedy(rows: int | None) -> str:
    return f"pass encoder.begin({'B' if rows is None else rows}), or what the last call gave"


def map_state(state: State, change: Callable[[Tensor], Tensor]) -> State:
    """The state with every tensor changed: one function serves detach, reorder, move and copy."""
    return {k: map_state(v, change) if isinstance(v, dict) else change(v) for k, v in state.items()}


def detach(state: State) -> State:
    return map_state(state, Tensor.detach)


def reorder(state: State, rows: Tensor) -> State:
    """The rows of a state picked by index, with repeats: the only way to branch."""
    if "rows" in state:
        from foresay.encode.cache import reordered

        return reordered(state, rows)
    return {k: reorder(v, rows) if isinstance(v, dict) else v.index_select(0, rows) for k, v in state.items()}


def joined(states: Sequence[State]) -> State:
    """The rows of several states of one model, one after another."""
    first = states[0]
    if "at" in first:
        from foresay.encode import cache

        return cache.joined(states)
    found: State = {}
    for name, value in first.items():
        own = [state[name] for state in states]
        found[name] = joined(own) if isinstance(value, dict) else torch.cat(own)
    return found


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
