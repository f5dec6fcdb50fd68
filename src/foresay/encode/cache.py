"""Keys and values of the steps before, as part of a state.

Every slot knows the position it holds, so ragged rows and document starts are exact: a step at position i of a document
that began at b sees the slots with b <= at <= i, and at > i - window. `at` is -1 where a row had padding.

    position (B,)   real steps seen             begun (B,)  where the document began
    at (B, C)       position of each slot       0, 1, ..    of each layer k (B, C, G, d) and v (B, C, G, e)

A state begun with a capacity has C slots from the beginning, and more:

    used (B,)       slots that are taken, the same number in every row
    rows (B, C)     which row of k and v holds a slot

Its steps write into their slot and copy nothing, and to pick rows is to pick rows of the table (as many as there were);
so it can be used once only, as decoding does.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.encode.encoder import State, advance, map_state
from foresay.kernels.switch import in_file

EMPTY = -1


def begin(
    like: Tensor, layers: int, key: tuple[int, int], value: tuple[int, int], capacity: int | None = None
) -> State:
    """Before the first step; `like` has a row for each, keys are (groups, width) of a step."""
    rows, slots = like.shape[0], capacity or 0
    zero = torch.zeros(rows, dtype=torch.long, device=like.device)
    state: State = {"position": zero, "begun": zero.clone(), "at": zero.new_full((rows, slots), EMPTY)}
    if capacity:
        state["used"] = zero.clone()
        state["rows"] = torch.arange(rows, device=like.device)[:, None].repeat(1, slots)
    for layer in range(layers):
        state[str(layer)] = {"k": like.new_zeros(rows, slots, *key), "v": like.new_zeros(rows, slots, *value)}
    return state


def empty(state: State, keep: int) -> State:
    """The state before the first step, with slots that are seen by nobody: its shape is that of all that follow."""
    wide = map_state(state, lambda one: one if one.ndim == 1 else one.new_zeros(one.shape[0], keep, *one.shape[2:]))
    return wide | {"at": torch.full_like(wide["at"], EMPTY)}


def places(steps: int, mask: Tensor | None, state: State, starts: Tensor | None) -> tuple[Tensor, Tensor]:
    """Of every step its position in the row and the position where its document began, each (B, T)."""
    first = state["position"][:, None]
    if mask is None:
        position = first + torch.arange(steps, device=first.device)
    else:
        position = (first + mask.long().cumsum(1) - 1).clamp(min=0)  # padding stays at the last real one
    begun = state["begun"][:, None].expand_as(position)
    if starts is not None and steps:
        starts = starts if mask is None else starts & mask
        begun = torch.maximum(begun, position.where(starts, EMPTY).cummax(1).values)
    return position, begun


def extended(state: State, position: Tensor, begun: Tensor, mask: Tensor | None) -> State:
    """The state after these steps, all but the keys and values."""
    at = position if mask is None else position.where(mask, EMPTY)
    steps = position.shape[1]
    return {
        "position": advance(state["position"], steps, mask),
        "begun": begun[:, -1] if steps else state["begun"],
        "at": torch.cat([state["at"], at], 1),
    }


def taken(state: State, position: Tensor, begun: Tensor, mask: Tensor | None) -> tuple[State, int, int]:
    """The state after these steps, in slots low..high that have room for their keys and values."""
    state, low = with_room(state, position.shape[1]), used(state)
    high = low + position.shape[1]
    state["at"][:, low:high] = position if mask is None else position.where(mask, EMPTY)
    state["rows"][:, low:high] = torch.arange(position.shape[0], device=position.device)[:, None]
    changed = {"position": advance(state["position"], high - low, mask), "used": state["used"] + (high - low)}
    return state | changed | ({"begun": begun[:, -1]} if high > low else {}), low, high


def used(state: State) -> int:
    """How many slots are taken."""
    return int(state["used"][0]) if len(state["used"]) else 0


def with_room(state: State, steps: int) -> State:
    """The state, or one with more slots where so many steps have no room."""
    low, slots = used(state), state["at"].shape[1]
    return state if low + steps <= slots else _wider(state, max(low + steps, 2 * low))


def seen_from(state: State, held: Tensor, end: int) -> Tensor:
    """The first slots of keys or values (B, C, ..) as each row has them."""
    return held[state["rows"][:, :end], torch.arange(end, device=held.device)]


def reordered(state: State, rows: Tensor) -> State:
    """Rows picked by index: as many as there were share what is cached, others get a copy of what is taken."""
    kept = {name: value.index_select(0, rows) for name, value in state.items() if isinstance(value, Tensor)}
    caches = {name: value for name, value in state.items() if isinstance(value, dict)}
    if len(rows) == len(state["rows"]):
        return kept | caches
    end, slots = used(state), state["at"].shape[1]
    own: State = kept | {"rows": torch.arange(len(rows), device=rows.device)[:, None].repeat(1, slots)}
    for layer, cache in caches.items():
        own[layer] = {name: _room(seen_from(kept, tensor, end), slots) for name, tensor in cache.items()}
    return own


def joined(states: Sequence[State]) -> State:
    """The rows of several states one after another; slots that were padding are left out."""
    kept, ats = zip(*(_real(state) for state in states), strict=True)
    end = max(at.shape[1] for at in ats)
    found: State = {name: torch.cat([state[name] for state in states]) for name in ("position", "begun")}
    found["at"] = torch.cat([F.pad(at, (0, end - at.shape[1]), value=EMPTY) for at in ats])
    if "rows" in states[0]:
        found["used"] = torch.full_like(found["position"], end)
        found["rows"] = torch.arange(len(found["at"]), device=found["at"].device)[:, None].repeat(1, end)
    for layer, cache in kept[0].items():
        found[layer] = {name: torch.cat([_room(own[layer][name], end) for own in kept]) for name in cache}
    return found


def _real(state: State) -> tuple[State, Tensor]:
    """The keys and values of each row's real slots, and where they are: those of fewer have padding on the right."""
    roomy = "rows" in state
    at = state["at"][:, : used(state)] if roomy else state["at"]
    real = at != EMPTY
    slots = (~real).long().argsort(dim=1, stable=True)[:, : int(real.sum(1).max()) if real.numel() else 0]
    caches: State = {}
    for layer, cache in state.items():
        if isinstance(cache, dict):
            whole = {name: seen_from(state, held, at.shape[1]) if roomy else held for name, held in cache.items()}
            caches[layer] = {name: _picked(held, slots) for name, held in whole.items()}
    return caches, at.gather(1, slots)


def _wider(state: State, slots: int) -> State:
    """The same with room for so many slots."""
    end = state["at"].shape[1]
    wide: State = dict(state)
    wide["at"] = torch.cat([state["at"], state["at"].new_full((len(state["at"]), slots - end), EMPTY)], 1)
    wide["rows"] = torch.arange(len(wide["at"]), device=wide["at"].device)[:, None].repeat(1, slots)
    for layer, cache in state.items():
        if isinstance(cache, dict):
            wide[layer] = {name: _room(seen_from(state, tensor, end), slots) for name, tensor in cache.items()}
    return wide


def _room(taken: Tensor, slots: int) -> Tensor:
    """(B, C, ..) with more slots."""
    held = taken.new_zeros(len(taken), slots, *taken.shape[2:])
    held[:, : taken.shape[1]] = taken
    return held


def last(state: State, keep: int) -> State:
    """Each row's last `keep` slots: all that a later step can see."""
    if in_file():  # no row has padding, and `empty` has made as many slots at the beginning
        return map_state(state, lambda one: one if one.ndim == 1 else one[:, one.shape[1] - keep :])
    if state["at"].shape[1] <= keep:
        return state
    at, slots = state["at"].topk(keep, 1)
    kept = {name: state[name] for name in ("position", "begun")} | {"at": at}
    for layer, cache in state.items():
        if isinstance(cache, dict):
            kept[layer] = {name: _picked(tensor, slots) for name, tensor in cache.items()}
    return kept


def _picked(tensor: Tensor, slots: Tensor) -> Tensor:
    return tensor.gather(1, slots[:, :, None, None].expand(-1, -1, *tensor.shape[2:]))
