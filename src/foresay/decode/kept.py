"""What a writing or a search leaves to the next one: its tensors, and the CUDA graph that changes them.

To begin, a graph takes two steps launched one by one and a recording: twenty milliseconds, in which a GPU writes fifty
tokens. A model's last graph is kept. What comes next with the same shapes, settings and weights is copied into its
tensors and goes on there. One of each kind is kept for a model, and none that holds more than MOST bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from torch import Tensor, nn

from foresay.decode.graphed import Repeated, taken_over
from foresay.encode.encoder import flatten_state

MOST = 1 << 30

_T = TypeVar("_T")


@dataclass
class _Kept:
    alike: Any  # what the next one must have in common with it
    own: Any
    repeated: Repeated


_kept: WeakKeyDictionary[nn.Module, dict[type, _Kept]] = WeakKeyDictionary()


@contextmanager
def going_on(new: _T, call: Callable[[_T], None], model: Any, settings: Any) -> Iterator[tuple[_T, Repeated]]:
    """What to go on with, in place of `new`, and `call` of it to repeat; `settings` is all that both depend on."""
    known = isinstance(model, nn.Module)
    alike = (settings, _shapes(new), _weights(model)) if known else None
    found = _kept.get(model, {}).pop(type(new), None) if known else None
    if found is not None and found.alike == alike:
        _take(found.own, new)
        own: Any = found.own
        repeated = found.repeated
    else:
        own = new
        repeated = Repeated(lambda: call(own), next(iter(_tensors(new).values())).device)
    yield own, repeated
    if known and repeated.graph is not None and _bytes(own) <= MOST:
        own.model = None  # a key must not be kept alive by its value
        _kept.setdefault(model, {})[type(own)] = _Kept(alike, own, repeated)


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


def _bytes(own: Any) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in _tensors(own).values())


def _weights(model: nn.Module) -> list[int]:
    """Where they lie: a graph reads them there."""
    return [tensor.data_ptr() for tensor in (*model.parameters(), *model.buffers())]
