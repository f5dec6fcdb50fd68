"""The k largest numbers of each row, the lowest place first among equals.

torch.topk picks any of equal numbers, and another one for another number of rows; n-grams have many equal ones. On a
GPU equal numbers at the edge are left to it: a search takes such a choice for unsure, and repeats it by itself.
"""

from __future__ import annotations

from torch import Tensor


def largest(values: Tensor, number: int) -> tuple[Tensor, Tensor]:
    """(..., V) -> values and places (..., k), falling; k is V where that is less."""
    number = min(number, values.shape[-1])
    found, places = values.topk(min(number + 1, values.shape[-1]), -1)
    ties = found.shape[-1] > number and not values.is_cuda  # a GPU would have to be waited for
    if ties and (found[..., number - 1] == found[..., number]).any():
        found, places = values.sort(dim=-1, descending=True, stable=True)
        return found[..., :number], places[..., :number]
    places, order = places[..., :number].sort(-1)
    found, order = found[..., :number].gather(-1, order).sort(dim=-1, descending=True, stable=True)
    return found, places.gather(-1, order)
