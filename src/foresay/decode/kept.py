"""What a writing or a search leaves to the next one: its tensors, and the CUDA graph that changes them.

To begin, a graph takes two steps launched one by one and a recording: about twenty milliseconds (docs/log.md). The last
graphs of a model are kept. What comes next with the same shapes, settings and weights as one of them is copied into its
tensors and goes on there. FEW are kept for a model, whose tensors together hold no more than MOST bytes (what a step
needs in between, one row of logits for each row, is not counted).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from foresay.decode.graphed import Repeated, taken_over
from foresay.encode.encoder import flatten_state
from foresay.kernels.switch import plain

FEW, MOST = 4, 1 << 30

_T = TypeVar("_T")


@dataclass
class _Kept:
    alike: Any  # what the next one must have in common with it
    own: Any
    repeated: Repeated
    bytes: int


_kept: WeakKeyDictionary[nn.Module, list[_Kept]] = WeakKeyDictionary()  # the last one used comes last


@contextmanager
def going_on(new: _T, call: Callable[[_T], None], model: Any, settings: Any) -> Iterator[tuple[_T, Repeated]]:
    """What to go on with, in place of `new`, and `call` of it to repeat; `settings` is all that both depend on."""
    known = isinstance(model, nn.Module) and not plain()
    alike = (type(new), settings, _shapes(new), model.training, _weights(model)) if known else None
    found = _taken(model, alike) if known else None
    if found is None:
        own: Any = new
        found = _Kept(alike, own, Repeated(lambda: call(own), _device(new)), _bytes(new))
    else:
        _take(found.own, new)
    yield found.own, found.repeated
    found.own.model = None  # a key must not be kept alive by its value
    if known and found.repeated.graph is not None:
        _keep(model, found)


def _taken(model: nn.Module, alike: Any) -> _Kept | None:
    """Out of what is kept: nobody else goes on in the same tensors."""
    kept = _kept.get(model, [])
    return next((kept.pop(place) for place, one in enumerate(kept) if one.alike == alike), None)


def _keep(model: nn.Module, new: _Kept) -> None:
    kept = _kept.setdefault(model, [])
    kept.append(new)
    while len(kept) > FEW or sum(one.bytes for one in kept) > MOST:
        kept.pop(0)


def _tensors(own: Any) -> dict[str, Tensor]:
    """All that an object has, by name: alone, in states and in what it notes."""
    found: dict[str, Tensor] = {}
    for name, value in vars(own).items():
        if isinstance(value, Tensor):
            found[name] = value
        elif isinstance(value, dict):
            found |= {f"{name}.{inner}": tensor for inner, tensor in flatten_state(value).items()}
        elif _notes(value):
            found |= {f"{name}.{inner}": tensor for inner, tensor in _tensors(value).items()}
    return found


def _notes(value: Any) -> bool:
    return is_dataclass(value) and any(isinstance(inner, Tensor) for inner in vars(value).values())


def _take(own: Any, new: Any) -> None:
    for name, value in vars(new).items():
        if _notes(value):
            _take(getattr(own, name), value)
        else:
            setattr(own, name, taken_over(getattr(own, name), value))


def _shapes(own: Any) -> list[Any]:
    return [(name, tensor.shape, tensor.dtype) for name, tensor in _tensors(own).items()]


def _device(own: Any) -> torch.device:
    return next(iter(_tensors(own).values())).device


def _bytes(own: Any) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in _tensors(own).values())


def _weights(model: nn.Module) -> list[int]:
    """Where they lie: a graph reads them there."""
    return [tensor.data_ptr() for tensor in (*model.parameters(), *model.buffers())]
